import { setTimeout as pause } from "node:timers/promises";
import { z } from "zod";
import type { Caller } from "./caller.ts";
import type { Operation } from "./history.ts";
import { activeEpoch, type Member } from "./member.ts";

const Group = z.object({ id: z.number(), name: z.string() });

/** Registers that clients write at the same time, so that their histories stay short: each for this long. */
const registerMs = 15_000;
const clients = 3;
const pauseMs = 250;

const now = (): number => Math.round(performance.now() * 1e6);

/**
 * Writes names of groups over either service, each with a key, and reads them. A group is a register. What was read counts
 * if the service said afterwards that it may act: one that has lost the lease shows the last that it knows, and says so.
 */
export class Registers {
  readonly history: Operation[] = [];
  readonly #members: readonly Member[];
  readonly #caller: Caller;
  readonly #isOver: () => boolean;
  #clients = 0;

  constructor(members: readonly Member[], caller: Caller, isOver: () => boolean) {
    this.#members = members;
    this.#caller = caller;
    this.#isOver = isOver;
  }

  async run(): Promise<void> {
    for (let number = 1; !this.#isOver(); number += 1) {
      const name = `register-${number}`;
      const added = await this.#caller.once("POST", "/api/groups", name, { name });
      if (added.is !== "done") continue;
      const { id } = Group.parse(added.body);
      // The name with which it was added is the first that was written.
      this.history.push({ register: name, client: 0, written: name, read: "", called: 0, ended: 1 });
      const until = performance.now() + registerMs;
      await Promise.all(Array.from({ length: clients }, (_, index) => this.#client(name, id, index, until)));
    }
  }

  async #client(register: string, id: number, index: number, until: number): Promise<void> {
    let client = ++this.#clients;
    for (let number = 0; performance.now() < until && !this.#isOver(); number += 1) {
      if (number % 2 === 0) {
        const isKnown = await this.#write(register, id, `${register}-${index}-${number}`, client);
        // One whose end is not known goes on for ever.
        if (!isKnown) client = ++this.#clients;
      } else await this.#read(register, id, client);
      await pause(pauseMs);
    }
  }

  /** Whether it is known what became of it. */
  async #write(register: string, id: number, name: string, client: number): Promise<boolean> {
    const asked = this.#members[Math.floor(Math.random() * this.#members.length)];
    const called = now();
    const outcome = await this.#caller.once("PATCH", `/api/groups/${id}`, name, { name }, asked);
    if (outcome.is === "refused") return true;
    const ended = outcome.is === "done" ? now() : null;
    this.history.push({ register, client, written: name, read: "", called, ended });
    return ended !== null;
  }

  async #read(register: string, id: number, client: number): Promise<void> {
    for (const member of this.#members) {
      const before = await activeEpoch(member);
      if (before === null) continue;
      const called = now();
      const answer = await member.send("GET", "/api/groups", undefined, { timeoutMs: 2_000 });
      const ended = now();
      const groups = z.array(Group).safeParse(answer?.body).data;
      const name = groups?.find((each) => each.id === id)?.name;
      if (name === undefined || (await activeEpoch(member)) !== before) continue;
      this.history.push({ register, client, written: null, read: name, called, ended });
      return;
    }
  }
}
