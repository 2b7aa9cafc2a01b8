import { setTimeout as pause } from "node:timers/promises";
import { z } from "zod";
import type { Caller } from "./caller.ts";
import type { CountingRig } from "./rigs.ts";

/** Percentages of the fan, one after another, by which a rig tells commands apart. */
const [lowest, values] = [20, 80];

const Row = z.object({ id: z.coerce.number() });

/** What a client was told about the rows that it alone writes. */
export class Writes {
  /** By id: the last name that was confirmed, and those after it of which nothing is known. */
  readonly #names = new Map<number, { confirmed: string; readonly open: string[] }>();
  acknowledged = 0;

  /** Begins so many writes a second, one in ten of which adds a row. */
  async run(caller: Caller, client: string, perSecond: number, isOver: () => boolean): Promise<void> {
    let newest: number | null = null;
    for (let number = 0; !isOver(); number += 1) {
      const next = pause(1_000 / perSecond);
      const name = `${client}-${number}`;
      const id: number | null = number % 10 === 0 ? null : newest;
      const open = id === null ? undefined : this.#names.get(id)?.open;
      // Before it is sent, since it may be stored and never answered.
      open?.push(name);
      const outcome = await caller.once("POST", "/api/poolgroups", name, id === null ? { name } : { id, name });
      if (outcome.is === "refused") open?.pop();
      if (outcome.is === "done") {
        newest = Row.parse(outcome.body).id;
        this.#names.set(newest, { confirmed: name, open: [] });
        this.acknowledged += 1;
      }
      await next;
    }
  }

  /** Sentences about what is not stored as it was confirmed. */
  lost(stored: ReadonlyMap<number, string>): string[] {
    return [...this.#names].flatMap(([id, { confirmed, open }]) => {
      const name = stored.get(id);
      if (name === undefined) return [`the acknowledged pool group ${id} is lost`];
      const isRight = name === confirmed || open.includes(name);
      return isRight ? [] : [`pool group ${id} is called ${name}, and was ${confirmed} when that was acknowledged`];
    });
  }
}

/** Commands to one rig, one after another, and what was said of each. */
export class Commands {
  readonly #rig: CountingRig;
  readonly #said: ("done" | "failed" | "unknown")[] = [];

  constructor(rig: CountingRig) {
    this.#rig = rig;
  }

  /** Begins so many commands a second. */
  async run(caller: Caller, miner: number, perSecond: number, isOver: () => boolean): Promise<void> {
    for (let number = 0; !isOver(); number += 1) {
      const next = pause(1_000 / perSecond);
      const path = `/api/miners/${miner}?action=set&property=fan&value=${lowest + (number % values)}`;
      const outcome = await caller.once("POST", path, `${miner}-${number}`);
      this.#said.push(wordOf(outcome));
      await next;
    }
  }

  count(what: "done" | "failed" | "unknown"): number {
    return this.#said.filter((each) => each === what).length;
  }

  /** Sentences about commands that were sent twice or late, or not as was said. */
  wrong(): string[] {
    const wrong: string[] = [];
    const arrived = new Set<number>();
    let last = -1;
    for (const { value } of this.#rig.told) {
      // Each value is one step after the last one, or more where a command never left.
      const step = (value - lowest - (last % values) + values) % values;
      if (last >= 0 && (step === 0 || step > values / 2)) wrong.push(`a rig was told ${value} % twice, or late`);
      else last = last < 0 ? value - lowest : last + step;
      arrived.add(last);
    }
    for (const [number, said] of this.#said.entries()) {
      if (said === "done" && !arrived.has(number)) wrong.push(`command ${number} is done, and never reached its rig`);
      if (said === "failed" && arrived.has(number)) wrong.push(`command ${number} has failed, and reached its rig`);
    }
    return wrong;
  }
}

type Said = Awaited<ReturnType<Caller["once"]>>;

function wordOf(outcome: Said): "done" | "failed" | "unknown" {
  if (outcome.is === "refused") return "failed";
  if (outcome.is === "failed") return outcome.code === "not.possible" ? "failed" : "unknown";
  return outcome.is === "done" && JSON.stringify(outcome.body).includes('"state":"done"') ? "done" : "unknown";
}
