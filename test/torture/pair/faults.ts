import { setTimeout as pause } from "node:timers/promises";
import type { Engine } from "./engine.ts";
import { canSetClocks, type Member } from "./member.ts";

/** ms of a stop or a cut: longer than the lease. */
const faultMs = 5_000;
/** ms that everything takes on its way to a slow engine and back. */
const slowMs = 200;

export interface Place {
  readonly active: Member;
  readonly other: Member;
  readonly engine: Engine;
}

interface Fault {
  /** Whether the other service takes over. */
  readonly moves: boolean;
  /** Resolves when it is over. */
  happens(place: Place): Promise<void>;
}

const killed =
  (signal: NodeJS.Signals, who: "active" | "other") =>
  async (place: Place): Promise<void> => {
    const member = place[who];
    member.service.signal(signal);
    await member.service.ended;
    await member.start();
  };

const cut =
  (line: "toEngine" | "toOther", who: "active" | "other") =>
  async (place: Place): Promise<void> => {
    place[who][line].cut();
    await pause(faultMs);
    place[who][line].restore();
  };

export const faults = {
  kill: { moves: true, happens: killed("SIGKILL", "active") },
  "kill of the waiting one": { moves: false, happens: killed("SIGKILL", "other") },
  end: { moves: true, happens: killed("SIGTERM", "active") },
  stop: {
    moves: true,
    happens: async ({ active }) => {
      active.service.signal("SIGSTOP");
      await pause(faultMs * (1 + Math.random()));
      active.service.signal("SIGCONT");
    },
  },
  "cut from the engine": { moves: true, happens: cut("toEngine", "active") },
  "cut between the two": { moves: false, happens: cut("toOther", "other") },
  "engine restarts": { moves: false, happens: ({ engine }) => engine.restart(Math.random() * 2 * faultMs) },
  "engine fails over": { moves: false, happens: ({ engine }) => engine.failOver(Math.random() * faultMs) },
  "engine is slow": {
    moves: false,
    happens: async ({ active, other }) => {
      for (const { toEngine } of [active, other]) toEngine.slow(slowMs / 2);
      await pause(faultMs);
      for (const { toEngine } of [active, other]) toEngine.slow(0);
    },
  },
  "clock jumps": {
    moves: false,
    happens: async ({ active }) => {
      active.setClock?.(Math.random() < 0.5 ? 3_600 : -3_600);
      await pause(faultMs);
      active.setClock?.(0);
    },
  },
} satisfies Readonly<Record<string, Fault>>;

export type FaultName = keyof typeof faults;

/** Faults without end: all kinds in random order, then again. */
export function* shuffled(): Generator<[FaultName, Fault]> {
  const all = Object.entries(faults).filter(([name]) => canSetClocks || name !== "clock jumps");
  for (;;)
    for (const [name, fault] of all
      .map((each) => ({ each, at: Math.random() }))
      .sort((one, other) => one.at - other.at)
      .map(({ each }) => each))
      if (isName(name)) yield [name, fault];
}

const isName = (name: string): name is FaultName => name in faults;
