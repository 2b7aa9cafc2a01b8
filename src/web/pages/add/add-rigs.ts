import { signal } from "@preact/signals";
import type { Input } from "../../../contract/service.ts";
import { call } from "../../api.ts";
import { problemText } from "../../parts/messages.tsx";
import { patiently } from "../../patiently.ts";

type NewRig = Input<"addMiner">;

export interface Added {
  readonly address: string;
  /** The id of the added rig. */
  readonly id: number | null;
  readonly problem: string | null;
}

export interface Adding {
  readonly total: number;
  readonly results: readonly Added[];
  readonly running: boolean;
}

/** Concurrent requests: the service identifies rigs in the background anyway. */
const parallel = 6;

/** The rigs being added; it continues while other pages are shown. */
export const adding = signal<Adding | null>(null);

/** Adds rigs one by one; each ends with its id or the reason for its failure. */
export async function addRigs(rigs: readonly NewRig[]): Promise<void> {
  const waiting = [...rigs];
  adding.value = { total: rigs.length, results: [], running: true };
  const work = async () => {
    for (let rig = waiting.shift(); rig !== undefined; rig = waiting.shift()) {
      const result = await added(rig);
      if (adding.value === null) return;
      adding.value = { ...adding.value, results: [...adding.value.results, result] };
    }
  };
  await Promise.all(Array.from({ length: parallel }, work));
  if (adding.value !== null) adding.value = { ...adding.value, running: false };
}

async function added(rig: NewRig): Promise<Added> {
  try {
    const { id } = await patiently(() => call("addMiner", rig));
    return { address: rig.address, id, problem: null };
  } catch (error) {
    return { address: rig.address, id: null, problem: problemText(error) };
  }
}
