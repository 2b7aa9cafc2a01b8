import { partsOf } from "../cgminer/pools.ts";
import type { Pool } from "../model.ts";
import type { LuxosRig } from "./rig.ts";

/** The result of a command: a code and a message; "E" if it is refused. */
export interface CommandResult {
  readonly letter: "S" | "E";
  readonly code: number;
  readonly words: string;
}

const done = (code: number, words: string): CommandResult => ({ letter: "S", code, words });
const refused = (code: number, words: string): CommandResult => ({ letter: "E", code, words });
const wrong = (what: string): CommandResult => refused(403, `Invalid parameter: ${what}`);

/** `parts` are the parameters after the session. */
type Run = (rig: LuxosRig, parts: readonly string[]) => CommandResult;

const curtail: Run = (rig, [action]) => {
  if (action !== "sleep" && action !== "wakeup") return wrong(`action ${action ?? ""}`);
  rig.asleep = action === "sleep";
  rig.model.change((model) => {
    model.mining = !rig.asleep;
  });
  return done(335, "Curtailment command sent");
};

const ledset: Run = (rig, [color, state]) => {
  if (color !== "red" || !["on", "off", "blink", "auto"].includes(state ?? "")) return wrong("led");
  rig.redLed = state ?? "auto";
  return done(320, "LED mode set");
};

const profileset: Run = (rig, [name]) => {
  const profile = rig.profiles.find((each) => each.name === name);
  if (profile === undefined) return refused(324, `Profile '${name ?? ""}' not found`);
  if (rig.atm.enabled) return refused(432, "Profiles cannot be set while ATM is enabled");
  rig.use(profile);
  return done(321, "Profile Set");
};

const atmset: Run = (rig, parts) => {
  const wanted = Object.fromEntries(parts.map((part) => part.split("=", 2)));
  const highest = wanted.max_profile ?? rig.atm.highest;
  if (!rig.profiles.some(({ name }) => name === highest)) return wrong("max_profile");
  const enabled = wanted.enabled === undefined ? rig.atm.enabled : wanted.enabled === "true";
  rig.atm = { enabled, highest };
  return done(340, "ATM configuration set");
};

const fanset: Run = (rig, parts) => {
  const speed = Number(parts.find((part) => part.startsWith("speed="))?.slice("speed=".length));
  if (!Number.isInteger(speed) || speed < -1 || speed > 100) return wrong("speed");
  rig.model.change((model) => {
    model.fanSetting = speed === -1 ? null : speed / 100;
  });
  return done(203, "Fan control options set");
};

const lowestTarget = 25;

const tempctrlset: Run = (rig, parts) => {
  const [target = Number.NaN, hot = Number.NaN, dangerous = Number.NaN] = parts.map(Number);
  if (!(target >= lowestTarget && target <= hot && hot <= dangerous)) return wrong("temperatures");
  rig.temperatures = { hot, dangerous };
  rig.model.change((model) => {
    model.temperatureTarget = target;
  });
  return done(330, "Set temperature control");
};

const board =
  (on: boolean): Run =>
  (rig, [id]) => {
    const number = Number(id);
    if (!(number >= 0 && number < rig.model.hardware.boards)) return wrong("board_id");
    rig.model.change(({ boardsOff }) => (on ? boardsOff.delete(number) : boardsOff.add(number)));
    return done(on ? 349 : 350, on ? "Board enabled" : "Board disabled");
  };

/** Sleep survives it. */
const restart =
  (code: number, words: string): Run =>
  (rig) => {
    rig.session = null;
    rig.redLed = "auto";
    rig.model.restart(rig.body.restartSeconds);
    rig.model.change((model) => {
      model.mining = !rig.asleep;
    });
    return done(code, words);
  };

/** Commands that need a session. */
export const guarded: ReadonlyMap<string, Run> = new Map<string, Run>([
  ["curtail", curtail],
  ["ledset", ledset],
  ["profileset", profileset],
  ["atmset", atmset],
  ["fanset", fanset],
  ["tempctrlset", tempctrlset],
  ["enableboard", board(true)],
  ["disableboard", board(false)],
  ["resetminer", restart(329, "Resetting miner")],
  ["rebootdevice", restart(328, "Rebooting device")],
]);

const inOrder = (pools: readonly Pool[]): void => {
  for (const [priority, pool] of pools.entries()) pool.priority = priority;
};

const addpool = (rig: LuxosRig, parameter: string): CommandResult => {
  const [url, user, password] = partsOf(parameter);
  if (url === undefined || user === undefined || password === undefined) {
    return refused(53, `Invalid addpool details '${parameter}'`);
  }
  if (rig.model.pools.length >= mostPools) return refused(53, `Too many pools for '${parameter}'`);
  const { pools } = rig.model;
  const fresh = { enabled: true, alive: true, priority: pools.length, quota: 1, hashes: 0, lastShareAt: null };
  rig.model.change((model) =>
    model.pools.push({ url, user, password, difficulty: pools[0]?.difficulty ?? 1024, ...fresh }),
  );
  return done(55, `Added pool ${pools.length - 1}: '${url}'`);
};

const mostPools = 8;

const onPool =
  (act: (rig: LuxosRig, pool: Pool) => CommandResult) =>
  (rig: LuxosRig, parameter: string): CommandResult => {
    const pool = rig.model.pools[Number(parameter)];
    return pool === undefined ? refused(26, `Invalid pool id ${parameter}`) : act(rig, pool);
  };

const enable = (enabled: boolean, code: number, words: string) =>
  onPool(({ model }, pool) => {
    if (!enabled && model.pools.every((other) => other === pool || !other.enabled)) {
      return refused(51, `Cannot disable last active pool '${pool.url}'`);
    }
    model.change(() => {
      pool.enabled = enabled;
    });
    return done(code, `${words} '${pool.url}'`);
  });

/** Commands that need no session. */
export const open: ReadonlyMap<string, (rig: LuxosRig, parameter: string) => CommandResult> = new Map([
  ["addpool", addpool],
  [
    "switchpool",
    onPool(({ model }, pool) => {
      const others = model.pools.filter((other) => other !== pool).sort((a, b) => a.priority - b.priority);
      model.change(() => {
        pool.enabled = true;
        inOrder([pool, ...others]);
      });
      return done(27, `Switching to pool '${pool.url}'`);
    }),
  ],
  ["enablepool", enable(true, 47, "Enabling pool")],
  ["disablepool", enable(false, 48, "Disabling pool")],
  [
    "removepool",
    onPool(({ model }, pool) => {
      const others = model.pools.filter((other) => other !== pool);
      if (others.length === 0) return refused(66, `Cannot remove last pool '${pool.url}'`);
      model.setPools(others);
      model.change(() => inOrder(model.pools.toSorted((a, b) => a.priority - b.priority)));
      return done(68, `Removed pool '${pool.url}'`);
    }),
  ],
]);
