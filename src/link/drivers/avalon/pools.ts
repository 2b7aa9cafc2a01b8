import { invalid, RigbridgeError } from "../../../contract/problems.ts";
import type { PoolAction, PoolControls, PoolLogin, PoolReading } from "../../driver.ts";
import type { Credentials } from "../../link.ts";
import { checkLogin } from "../../pool-login.ts";
import { Notes, TolerantReader } from "../../tolerant-reader.ts";
import type { RpcTransport } from "../../transports/rpc.ts";
import { accepted, poolsOf } from "../shared/cgminer-replies.ts";
import { ascset } from "./commands.ts";
import { rebootNow } from "./controls.ts";
import type { Generation } from "./generation.ts";
import { type AvalonWeb, poolSlots } from "./web.ts";

/** What the firmware's cgminer may take; what it does not know is asked for once and left out. */
export const poolCommands = {
  add: "addpool",
  switch: "switchpool",
  enable: "enablepool",
  disable: "disablepool",
  remove: "removepool",
  prioritize: "poolpriority",
} as const satisfies Partial<Record<PoolAction, string>>;

/** What is known of the rig as of the last read. */
export interface PoolMeans {
  readonly generation: Generation;
  readonly options: ReadonlySet<string> | null;
  /** Those of `poolCommands` that its cgminer takes. */
  readonly taken: ReadonlySet<string>;
}

/**
 * Pools in two ways. With the password of its web page the rig keeps them, and reboots to mine at them: A-series take
 * one place after the other (`setpool`), home miners the whole list as their web page sends it. Without it there are
 * cgminer's own commands, which work at once and are forgotten with the next restart.
 */
export class AvalonPools implements PoolControls {
  readonly #rpc: RpcTransport;
  readonly #web: AvalonWeb;
  readonly #credentials: Credentials;
  readonly #means: () => PoolMeans;

  constructor(rpc: RpcTransport, web: AvalonWeb, credentials: Credentials, means: () => PoolMeans) {
    this.#rpc = rpc;
    this.#web = web;
    this.#credentials = credentials;
    this.#means = means;
  }

  /** Whether the rig reboots for a change. */
  get reboot(): boolean {
    return this.#way !== "none";
  }

  actions(pools: readonly PoolReading[]): PoolAction[] {
    const { taken } = this.#means();
    const way = this.#way;
    const room = pools.length < poolSlots;
    const can: Readonly<Record<PoolAction, boolean>> = {
      add: way === "none" ? taken.has(poolCommands.add) : room,
      use: way !== "none",
      switch: taken.has(poolCommands.switch),
      enable: taken.has(poolCommands.enable),
      disable: taken.has(poolCommands.disable),
      remove: way === "list" || taken.has(poolCommands.remove),
      prioritize: taken.has(poolCommands.prioritize) || way === "list",
    };
    return allActions.filter((action) => can[action]);
  }

  async add(login: PoolLogin, signal: AbortSignal): Promise<string> {
    this.#check(login);
    const way = this.#way;
    if (way === "list") return this.#rewrite((kept) => withAdded(kept, login), signal);
    if (way === "none") return this.#addForNow(login, signal);
    const used = new Set((await this.#fresh(signal)).map(({ index }) => index));
    const free = [0, 1, 2].find((slot) => !used.has(slot));
    if (free === undefined) throw full();
    return this.#setPool(free, login, signal);
  }

  /** In the first place, which it mines at after a restart. */
  async use(login: PoolLogin, signal: AbortSignal): Promise<string> {
    this.#check(login);
    const way = this.#way;
    if (way === "none") throw new RigbridgeError("rig.login", `${this.#rpc.at} wants the password of its web page`);
    if (way === "setpool") return this.#setPool(0, login, signal);
    return this.#rewrite(([, ...others]) => [login, ...others.filter((pool) => !isSame(pool, login))], signal);
  }

  switch(pool: PoolReading, signal: AbortSignal): Promise<string> {
    return this.#onPool(poolCommands.switch, pool, signal);
  }

  enable(pool: PoolReading, signal: AbortSignal): Promise<string> {
    return this.#onPool(poolCommands.enable, pool, signal);
  }

  disable(pool: PoolReading, signal: AbortSignal): Promise<string> {
    return this.#onPool(poolCommands.disable, pool, signal);
  }

  async remove(pool: PoolReading, signal: AbortSignal): Promise<string> {
    const pools = await this.#fresh(signal);
    const { index } = listed(pools, pool);
    if (pools.length < 2) throw last();
    if (this.#way === "list") return this.#rewrite((kept) => without(kept, pool), signal);
    return this.#cgminer(poolCommands.remove, String(index), signal);
  }

  async prioritize(pool: PoolReading, signal: AbortSignal): Promise<string> {
    const pools = await this.#fresh(signal);
    const wanted = listed(pools, pool);
    if (!this.#means().taken.has(poolCommands.prioritize))
      return this.#rewrite((kept) => [keptOf(kept, pool), ...kept.filter((each) => !isSame(each, pool))], signal);
    const others = pools.filter((each) => each !== wanted).sort((a, b) => a.priority - b.priority);
    const order = [wanted, ...others].map(({ index }) => index).join(",");
    return this.#cgminer(poolCommands.prioritize, order, signal);
  }

  get #way(): "setpool" | "list" | "none" {
    const { generation, options } = this.#means();
    if (this.#credentials.password === undefined) return "none";
    if (options?.has("setpool") && generation.name === "a-series") return "setpool";
    return webLists.has(generation.name) ? "list" : "none";
  }

  /** What the rig's own grammar cannot carry is refused before a byte of it leaves. */
  #check(login: PoolLogin): void {
    checkLogin(login);
    const forbidden = { setpool: /[,|]/, list: /["\\]/, none: /[|]/ }[this.#way];
    for (const [path, text] of Object.entries({ worker: login.worker, password: login.password })) {
      if (forbidden.test(text)) throw invalid(path, "has a character that this rig cannot keep");
    }
  }

  /** Reads the list, changes it, writes it whole, looks whether it was taken, and only then restarts the rig. */
  async #rewrite(change: (kept: readonly PoolLogin[]) => PoolLogin[], signal: AbortSignal): Promise<string> {
    const wanted = change(await this.#web.pools("before", signal));
    await this.#web.keep(wanted, signal);
    const kept = await this.#web.pools("after", signal);
    const taken = kept.length === wanted.length && kept.every((pool, slot) => isSame(pool, wanted[slot]));
    if (!taken) throw new RigbridgeError("rig.refused", `${this.#rpc.at} did not take the list of pools`);
    return `the rig keeps ${kept.length} pools; ${await rebootNow(this.#rpc, signal)}; it restarts to mine there`;
  }

  /** Its answer repeats the pool's password, so it is not passed on. */
  async #setPool(slot: number, login: PoolLogin, signal: AbortSignal): Promise<string> {
    const { username = "root", password: own = "" } = this.#credentials;
    if (/[,|]/.test(own + username))
      throw new RigbridgeError("rig.login", `${this.#rpc.at} cannot be sent a login with a comma in it`);
    const password = login.password || "x";
    const value = [username, own, slot, login.url, login.worker, password].join(",");
    try {
      await ascset(this.#rpc, "setpool", value, signal);
    } catch (error) {
      throw withoutSecrets(error, [value, own, password]);
    }
    return `pool ${slot} is set; ${await rebootNow(this.#rpc, signal)}; it restarts to mine there`;
  }

  async #addForNow({ url, worker, password }: PoolLogin, signal: AbortSignal): Promise<string> {
    const parameter = [url, worker, password || "x"].map((part) => part.replace(/[\\,]/g, "\\$&")).join(",");
    try {
      return await this.#cgminer(poolCommands.add, parameter, signal);
    } catch (error) {
      throw withoutSecrets(error, [parameter, password]);
    }
  }

  async #onPool(command: string, pool: PoolReading, signal: AbortSignal): Promise<string> {
    const { index } = listed(await this.#fresh(signal), pool);
    return this.#cgminer(command, String(index), signal);
  }

  async #cgminer(command: string, parameter: string, signal: AbortSignal): Promise<string> {
    if (!this.#means().taken.has(command))
      throw new RigbridgeError("control.absent", `This rig's firmware does not take "${command}"`);
    return accepted(this.#rpc.at, command, (await this.#rpc.send(command, parameter, signal)).value);
  }

  /** Indexes move when a pool is removed, and a wrong one is obeyed, so the list is read before each change. */
  async #fresh(signal: AbortSignal): Promise<PoolReading[]> {
    const { value } = await this.#rpc.send("pools", undefined, signal);
    accepted(this.#rpc.at, "pools", value);
    return poolsOf(new TolerantReader(value, new Notes(), "").list("POOLS"));
  }
}

const allActions = [
  "add",
  "use",
  "switch",
  "enable",
  "disable",
  "remove",
  "prioritize",
] as const satisfies PoolAction[];

const webLists = new Set<Generation["name"]>(["q", "mini3", "nano3s"]);

type Place = Pick<PoolLogin, "url" | "worker">;

const isSame = (pool: Place, other: Place | undefined): boolean =>
  other !== undefined && pool.url === other.url && pool.worker === other.worker;

function withAdded(kept: readonly PoolLogin[], login: PoolLogin): PoolLogin[] {
  if (kept.length >= poolSlots) throw full();
  return [...kept, login];
}

function without(kept: readonly PoolLogin[], pool: Place): PoolLogin[] {
  const others = kept.filter((each) => each !== keptOf(kept, pool));
  if (others.length === 0) throw last();
  return others;
}

function keptOf(kept: readonly PoolLogin[], pool: Place): PoolLogin {
  const found = kept.find((each) => isSame(each, pool));
  if (found === undefined) throw new RigbridgeError("not.possible", `The rig no longer keeps the pool ${pool.url}`);
  return found;
}

function listed(pools: readonly PoolReading[], wanted: PoolReading): PoolReading {
  const same = pools.filter((pool) => isSame(pool, wanted));
  const found = same.find(({ index }) => index === wanted.index) ?? (same.length === 1 ? same[0] : undefined);
  if (found === undefined) throw new RigbridgeError("not.possible", `The rig no longer lists the pool ${wanted.url}`);
  return found;
}

const full = (): RigbridgeError => new RigbridgeError("not.possible", `The rig keeps no more than ${poolSlots} pools`);
const last = (): RigbridgeError => new RigbridgeError("pool.last", "The last pool cannot be removed");

/** A text of a letter or two is no secret, and is everywhere. */
function withoutSecrets(error: unknown, secrets: readonly string[]): unknown {
  if (!(error instanceof RigbridgeError)) return error;
  let shown = error.message;
  for (const secret of secrets) if (secret.length > 2) shown = shown.replaceAll(secret, "***");
  return new RigbridgeError(error.code, shown);
}
