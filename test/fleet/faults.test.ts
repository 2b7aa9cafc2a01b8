import { afterAll, beforeAll, describe, expect, test } from "@jest/globals";
import type { PolledRig, Poller } from "../../src/fleet/poller.ts";
import { statusOf } from "../../src/fleet/state.ts";
import {
  type Farm,
  type FaultName,
  faults,
  plainRig,
  type RigKind,
  type RigSpec,
  type SimulatedRig,
  startFarm,
} from "../../src/simulator/index.ts";
import { declaredRig } from "../declared-rig.ts";
import { endingOf } from "../link/fault-endings.ts";
import { ownHost } from "../own-host.ts";
import { openPoller } from "../pollers.ts";

const kinds: readonly RigKind[] = ["cgminer", "axeos", "xmrig"];
const names = Object.keys(faults).filter((name): name is FaultName => name in faults);
const token = "geheim";

let farm: Farm;
let patient: Poller;
/** For what never answers: it waits no longer than it must. */
let hasty: Poller;
const told = new Map<number, string[]>();

const openFleet = (timeout: number): Poller =>
  openPoller({
    timeout,
    now: Date.now,
    remember: async () => undefined,
    listener: {
      read: () => undefined,
      disconnected: ({ id }) => void told.get(id)?.push("disconnected"),
      refused: ({ id }) => void told.get(id)?.push("refused"),
      failed: () => undefined,
    },
  });

beforeAll(async () => {
  const host = ownHost();
  const rigs = kinds.flatMap((kind) =>
    names.map((name): RigSpec => {
      const common = { host, name, warm: true };
      return kind === "xmrig" ? { kind, ...common, token, restricted: false } : plainRig(kind, common);
    }),
  );
  farm = await startFarm({ rigs });
  patient = openFleet(10_000);
  hasty = openFleet(400);
});

afterAll(async () => {
  patient.close();
  hasty.close();
  await farm.close();
});

function enter(fleet: Poller, id: number, { address, kind }: SimulatedRig): PolledRig {
  told.set(id, []);
  return fleet.put(declaredRig({ address, kind, token }, id));
}

/** What a miner is called whose reads end so; a record may be of a rig that seems to stand still. */
function statusesOf(ending: string | undefined): readonly string[] {
  if (ending === "rig.refused" || ending === "rig.login" || ending === "rig.other") return ["Error"];
  return ending?.startsWith("rig.") ? ["Disconnected"] : ["Mining", "Idle", "Starting", "Stopped"];
}

const endingHere = (name: FaultName, kind: RigKind): string | undefined =>
  name === "other-rig" && kind === "axeos" ? "rig.other" : endingOf(name, kind);

describe.each(kinds)("a %s", (kind) => {
  test.each(names)("with the fault %s ends in one status, with a reason, and recovers", async (name) => {
    const index = farm.rigs.findIndex((each) => each.kind === kind && each.name === name);
    const simulated = farm.rigs[index];
    if (simulated === undefined) throw new Error("no rig");
    const ending = endingHere(name, kind);
    const rig = enter(ending === "rig.timeout" ? hasty : patient, index + 1, simulated);
    const fleet = ending === "rig.timeout" ? hasty : patient;
    const read = async (until: () => boolean): Promise<void> => {
      // On a busy machine the hasty one may miss a rig that is well.
      for (let reads = 0; reads === 0 || (reads < 8 && !until()); reads += 1) await fleet.poll(rig);
    };
    await read(() => rig.state.missed === 0);
    const { startedAt, energy } = rig.state;

    simulated.fault = name;
    for (let reads = 0; reads < 3; reads += 1) {
      await fleet.poll(rig);
      expect(rig.state.energy ?? 0).toBeGreaterThanOrEqual(energy ?? 0);
      expect(rig.state.startedAt).toBe(startedAt);
      const { hashrate, power, shares } = rig.state.reading?.readings ?? {};
      for (const figure of [hashrate, power, shares?.accepted]) expect(figure ?? 0).toBeGreaterThanOrEqual(0);
    }
    if (name !== "flapping") {
      expect(statusesOf(ending)).toContain(statusOf(rig.state, false));
      const failed = ending?.startsWith("rig.") === true;
      expect(rig.state.trouble?.code ?? null).toBe(failed ? ending : null);
      expect(rig.state.trouble?.message ?? "none").toMatch(/^[^\p{Cc}\p{Bidi_Control}\u2028\u2029]+$/u);
      expect(told.get(index + 1)).toEqual(failed ? [ending === "rig.other" ? "refused" : "disconnected"] : []);
    }

    simulated.fault = null;
    await simulated.powerOn();
    const before = rig.state.at;
    await read(() => rig.state.missed === 0 && statusOf(rig.state, false) === "Mining");
    expect(rig.state).toMatchObject({ missed: 0, trouble: null });
    expect(statusOf(rig.state, false)).toBe("Mining");
    expect(rig.state.at).toBeGreaterThanOrEqual(before ?? 0);
    expect(told.get(index + 1)?.length).toBeLessThanOrEqual(1);
  });
});
