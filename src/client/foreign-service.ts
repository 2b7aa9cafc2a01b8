import type { Caller, CallName } from "../contract/service.ts";
import type { Parser } from "../units/parse.ts";
import { tryJson } from "./answers.ts";
import { type ForeignCalls, isWrite, writers } from "./foreign-actions.ts";
import { type Readers, type ReadName, readersOf } from "./foreign-replies.ts";
import { MinerMemory } from "./miner-memory.ts";
import { unsupported } from "./server.ts";
import type { ServerSession } from "./server-session.ts";
import { Uids } from "./uids.ts";

export interface ForeignOptions {
  readonly session: ServerSession;
  /** The name of the server. */
  readonly name: string;
  readonly locale: string;
  readonly parser: Parser;
  readonly now: () => number;
  readonly note: (words: string) => void;
}

/** The documented operations on a foreign server. */
export class ForeignService {
  readonly #session: ServerSession;
  readonly #readers: Readers;
  #hasListed = false;

  constructor({ session, name, ...reading }: ForeignOptions) {
    this.#session = session;
    this.#readers = readersOf({ ...reading, uids: new Uids(name), memory: new MinerMemory() });
  }

  async call(name: CallName, input: object, caller: Caller): Promise<unknown> {
    if (name === "listMiners" && Object.values(input).some((value) => value !== undefined))
      throw unsupported("a list of some miners", { wire: this.#session.wire }, await this.#session.server());
    if (name === "listNotifications" && "since" in input && input.since !== undefined)
      throw unsupported("a list of some notifications", { wire: this.#session.wire }, await this.#session.server());
    if (isRead(name, this.#readers)) {
      // If two miners have the same MAC address, only the list shows which of them has it as its uid.
      if (name === "getMiner" && !this.#hasListed) await this.#read("listMiners", {}, caller);
      return this.#read(name, input, caller);
    }
    if (isWrite(name)) return Reflect.apply(writers[name], writers, [input, this.#callsFor(caller)]);
    throw unsupported(`the operation ${name}`, { wire: this.#session.wire }, await this.#session.server());
  }

  async #read(name: ReadName, input: object, caller: Caller): Promise<unknown> {
    const { json } = await this.#session.json(name, input, caller);
    const reply: unknown = Reflect.apply(this.#readers[name], this.#readers, [json, input, caller.userId]);
    if (name === "listMiners") this.#hasListed = true;
    return reply;
  }

  #callsFor(caller: Caller): ForeignCalls {
    const read = this.#readers;
    const json = async (name: ReadName, input: object) => (await this.#session.json(name, input, caller)).json;
    return {
      pool: async (id) => read.getPool(await json("getPool", { id }), { id }),
      pools: async () => read.listPools(await json("listPools", {}), {}).list,
      host: async (id) => read.getHost(await json("getHost", { id }), { id }),
      hosts: async () => read.listHosts(await json("listHosts", {}), {}),
      managedMiner: async (id) => read.getManagedMiner(await json("getManagedMiner", { id }), { id }),
      managedMiners: async () => read.listManagedMiners(await json("listManagedMiners", {}), {}),
      send: async (name, input) => tryJson((await this.#session.answer(name, input, caller)).answer.body),
      unsupported: async (what) => unsupported(what, { wire: this.#session.wire }, await this.#session.server()),
    };
  }
}

const isRead = (name: CallName, readers: Readers): name is ReadName => Object.hasOwn(readers, name);
