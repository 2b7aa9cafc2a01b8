import { readLists } from "rigbridge/farm";
import type { OpenedService } from "../shared/farm-connection.ts";
import { type Say, spoken } from "../shared/faults.ts";
import { openService } from "./open-service.ts";
import type { Secrets, ServiceSettings } from "./settings.ts";

/** What the test button says. */
export interface Trial {
  /** What answers, like "Rigbridge 0.1.0". */
  readonly service: string;
  readonly miners: number;
  readonly offline: number;
  readonly groups: number;
  /** Whether it has the additions beside the documented API, as groups, controls and history. */
  readonly isFull: boolean;
  /** Of a service inside Node-RED: what became of each rig. */
  readonly rigs: readonly { readonly address: string; readonly model: string; readonly problem: string | null }[];
}

/**
 * Opens a service for a moment and looks at what is there; a service inside Node-RED keeps nothing of it. Throws why it
 * cannot be used.
 */
export async function tried(settings: ServiceSettings, secrets: Secrets, say: Say): Promise<Trial> {
  const quiet = { info: () => undefined, warn: () => undefined, error: () => undefined };
  // A search takes minutes; here only what is named is asked.
  const asked = settings.mode === "inside" ? { ...settings, scan: false } : settings;
  const opened = await openService({ settings: asked, secrets, file: ":memory:", log: quiet });
  try {
    const rigs = settings.mode === "inside" ? await rigsOf(opened, say) : [];
    return { ...(await looked(opened)), rigs };
  } finally {
    await opened.close();
  }
}

async function looked({ service, caller }: OpenedService): Promise<Omit<Trial, "rigs">> {
  const { miners, groups, summary, features } = await readLists(service, caller);
  return {
    service: `${summary.metaData.edition} ${summary.metaData.version}`.trim(),
    miners: miners.length,
    offline: miners.filter(({ isOffline }) => isOffline).length,
    groups: groups.length,
    isFull: features.has("listCommands"),
  };
}

/** Each is asked once. */
async function rigsOf({ service, caller }: OpenedService, say: Say): Promise<Trial["rigs"]> {
  const { miners } = await readLists(service, caller);
  return Promise.all(
    miners.map(async ({ id, hostDescription: address }) => {
      try {
        const { hardware, isOffline, readings } = await service.pollMiner({ id }, caller);
        return {
          address,
          model: hardware,
          problem: isOffline ? (readings.notes[0] ?? say("status.unreachable")) : null,
        };
      } catch (error) {
        return { address, model: "", problem: spoken(error, say).message };
      }
    }),
  );
}
