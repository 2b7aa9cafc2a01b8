import { Fleet } from "../../src/fleet/fleet.ts";
import { type RigSpec, startFarm } from "../../src/simulator/index.ts";
import { declaredRig } from "../declared-rig.ts";
import { ownHost } from "../own-host.ts";
import { until } from "../until.ts";
import { Verdict } from "./measure.ts";
import { say } from "./say.ts";

/**
 * Two thousand silent rigs do not delay the reads of a hundred others, over real sockets: these are read as often as a
 * hundred that have a fleet of their own.
 */

/** As long as a silent rig is waited for: all of those are read at once, and take twice the places there are for them. */
const interval = 3_000;
const verdict = new Verdict();
const host = ownHost();
const live: RigSpec[] = Array.from({ length: 200 }, () => ({ kind: "cgminer", warm: true, host }));
const silent: RigSpec[] = Array.from({ length: 2_000 }, () => ({ kind: "cgminer", fault: "silent", host }));
const farm = await startFarm({ rigs: [...live, ...silent] });
const read = { alone: 0, together: 0 };
const once = new Set<number>();

const counting = (name: keyof typeof read): Fleet =>
  new Fleet({
    listener: {
      read: ({ id, state }) => {
        if (state.missed > 0) return;
        read[name] += 1;
        once.add(id);
      },
      disconnected: () => undefined,
      refused: () => undefined,
      failed: () => undefined,
    },
    timeout: interval,
    remember: async () => undefined,
    now: Date.now,
  });

const alone = counting("alone");
const together = counting("together");
for (const [index, rig] of farm.rigs.entries()) (index < 100 ? alone : together).put(declaredRig(rig, index, interval));
// All have had their first read, for which nobody knows yet who is silent.
await until(
  () => once.size >= 200 && [...together.all()].every(({ state }) => state.at !== null || state.missed > 0),
  "the first read of every rig",
);
const before = { ...read };
// One of them may be in the middle of an interval when the other has ended it: a fifteenth of what is counted.
await until(() => read.alone - before.alone >= 1_500, "15 reads of each rig that answers");
const share = (read.together - before.together) / (read.alone - before.alone);
say(`reads beside 2,000 silent rigs: ${(100 * share).toFixed(1)} % of those without`);
verdict.check("they are read as often", share > 0.9);
await alone.close();
await together.close();
await farm.close();
verdict.end();
