import { invalid, RigbridgeError } from "../../../contract/problems.ts";
import type { PoolAction, PoolControls, PoolLogin, PoolReading } from "../../driver.ts";
import type { Credentials } from "../../link.ts";
import { checkLogin } from "../../pool-login.ts";
import type { RpcTransport } from "../../transports/rpc.ts";
import { cgminerPools, freshPools, poolCommands } from "../shared/cgminer-pools.ts";
import { accepted } from "../shared/cgminer-replies.ts";
import { isSamePool, lastPool, listedEntry, listedPool } from "../shared/listed-pool.ts";
import { redacted } from "../shared/redact.ts";
import { ascset } from "./commands.ts";
import { rebootNow } from "./controls.ts";
import type { Generation } from "./generation.ts";
import { type AvalonWeb, poolSlots } from "./web.ts";

/** From the last read. */
export interface PoolMeans {
  readonly generation: Generation;
  readonly options: ReadonlySet<string> | null;
  /** Those of `poolCommands` that its cgminer allows. */
  readonly takes: (command: string) => boolean;
}

/**
 * Pools in two ways. With the password of its web page the rig stores them and reboots to use them: A-series take one
 * place at a time (`setpool`), home miners the whole list as their web page sends it. Without it there are cgminer's
 * own commands, which take effect at once and are lost with the next restart.
 */
export class AvalonPools implements PoolControls {
  readonly #rpc: RpcTransport;
  readonly #web: AvalonWeb;
  readonly #credentials: Credentials;
  readonly #means: () => PoolMeans;
  /** By cgminer's own commands, which the next restart undoes. */
  readonly #untilRestart: ReturnType<typeof cgminerPools>;

  constructor(rpc: RpcTransport, web: AvalonWeb, credentials: Credentials, means: () => PoolMeans) {
    this.#rpc = rpc;
    this.#web = web;
    this.#credentials = credentials;
    this.#means = means;
    this.#untilRestart = cgminerPools(rpc, (command, parameter, signal) => this.#cgminer(command, parameter, signal));
  }

  /** Whether the rig reboots for a change. */
  get reboot(): boolean {
    return this.#way !== "none";
  }

  actions(pools: readonly PoolReading[]): PoolAction[] {
    const { takes } = this.#means();
    const way = this.#way;
    const room = pools.length < poolSlots;
    const can: Readonly<Record<PoolAction, boolean>> = {
      add: way === "none" ? takes(poolCommands.add) : room,
      use: way !== "none",
      switch: takes(poolCommands.switch),
      enable: takes(poolCommands.enable),
      disable: takes(poolCommands.disable),
      remove: way === "list" || takes(poolCommands.remove),
      prioritize: takes(poolCommands.prioritize) || way === "list",
    };
    return allActions.filter((action) => can[action]);
  }

  async add(login: PoolLogin, signal: AbortSignal): Promise<string> {
    this.#check(login);
    const way = this.#way;
    if (way === "list") return this.#rewrite((kept) => withAdded(kept, login), signal);
    if (way === "none") return this.#untilRestart.add(login, signal);
    const used = new Set((await freshPools(this.#rpc, signal)).map(({ index }) => index));
    const free = [0, 1, 2].find((slot) => !used.has(slot));
    if (free === undefined) throw full();
    return this.#setPool(free, login, signal);
  }

  /** In the first place, which it uses after a restart. */
  async use(login: PoolLogin, signal: AbortSignal): Promise<string> {
    this.#check(login);
    const way = this.#way;
    if (way === "none") throw new RigbridgeError("rig.login", `${this.#rpc.at} requires the password of its web page`);
    if (way === "setpool") return this.#setPool(0, login, signal);
    return this.#rewrite(([, ...others]) => [login, ...others.filter((pool) => !isSamePool(pool, login))], signal);
  }

  switch(pool: PoolReading, signal: AbortSignal): Promise<string> {
    return this.#untilRestart.switch(pool, signal);
  }

  enable(pool: PoolReading, signal: AbortSignal): Promise<string> {
    return this.#untilRestart.enable(pool, signal);
  }

  disable(pool: PoolReading, signal: AbortSignal): Promise<string> {
    return this.#untilRestart.disable(pool, signal);
  }

  async remove(pool: PoolReading, signal: AbortSignal): Promise<string> {
    if (this.#way !== "list") return this.#untilRestart.remove(pool, signal);
    const pools = await freshPools(this.#rpc, signal);
    listedPool(pools, pool);
    if (pools.length < 2) throw lastPool();
    return this.#rewrite((kept) => without(kept, pool), signal);
  }

  async prioritize(pool: PoolReading, signal: AbortSignal): Promise<string> {
    if (this.#means().takes(poolCommands.prioritize)) return this.#untilRestart.prioritize(pool, signal);
    listedPool(await freshPools(this.#rpc, signal), pool);
    return this.#rewrite((kept) => inFront(kept, pool), signal);
  }

  get #way(): "setpool" | "list" | "none" {
    const { generation, options } = this.#means();
    if (this.#credentials.password === undefined) return "none";
    if (options?.has("setpool") && generation.name === "a-series") return "setpool";
    return webLists.has(generation.name) ? "list" : "none";
  }

  /** Refuses values that the rig's own syntax cannot represent, before they are sent. */
  #check(login: PoolLogin): void {
    checkLogin(login);
    const forbidden = { setpool: /[,|]/, list: /["\\]/, none: /[|]/ }[this.#way];
    for (const [path, text] of Object.entries({ worker: login.worker, password: login.password })) {
      if (forbidden.test(text)) throw invalid(path, "contains a character that this rig cannot store");
    }
  }

  /** Reads the list, changes it, writes it whole, checks that it was accepted, and only then restarts the rig. */
  async #rewrite(change: (kept: readonly PoolLogin[]) => PoolLogin[], signal: AbortSignal): Promise<string> {
    const wanted = change(await this.#web.pools("before", signal));
    await this.#web.keep(wanted, signal);
    const kept = await this.#web.pools("after", signal);
    const taken =
      kept.length === wanted.length &&
      kept.every(({ url, worker }, slot) => url === wanted[slot]?.url && worker === wanted[slot].worker);
    if (!taken) throw new RigbridgeError("rig.refused", `${this.#rpc.at} did not accept the list of pools`);
    return `the rig stores ${kept.length} pools; ${await rebootNow(this.#rpc, signal)}; it restarts to use them`;
  }

  /** Its answer repeats the pool's password, so it is not passed on. */
  async #setPool(slot: number, login: PoolLogin, signal: AbortSignal): Promise<string> {
    const { username = "root", password: own = "" } = this.#credentials;
    if (/[,|]/.test(own + username))
      throw new RigbridgeError("rig.login", `${this.#rpc.at} cannot take a login that contains a comma`);
    const password = login.password || "x";
    const value = [username, own, slot, login.url, login.worker, password].join(",");
    try {
      await ascset(this.#rpc, "setpool", value, signal);
    } catch (error) {
      throw redacted(error, [value, own, password]);
    }
    return `pool ${slot} is set; ${await rebootNow(this.#rpc, signal)}; it restarts to use it`;
  }

  async #cgminer(command: string, parameter: string, signal: AbortSignal): Promise<string> {
    if (!this.#means().takes(command))
      throw new RigbridgeError("control.absent", `This rig's firmware does not take "${command}"`);
    return accepted(this.#rpc.at, command, (await this.#rpc.send(command, parameter, signal)).value);
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

function withAdded(kept: readonly PoolLogin[], login: PoolLogin): PoolLogin[] {
  if (kept.length >= poolSlots) throw full();
  return [...kept, login];
}

function inFront(kept: readonly PoolLogin[], pool: PoolReading): PoolLogin[] {
  const found = listedEntry(kept, pool, (login) => login);
  return [found, ...kept.filter((each) => each !== found)];
}

function without(kept: readonly PoolLogin[], pool: PoolReading): PoolLogin[] {
  const found = listedEntry(kept, pool, (login) => login);
  const others = kept.filter((each) => each !== found);
  if (others.length === 0) throw lastPool();
  return others;
}

const full = (): RigbridgeError =>
  new RigbridgeError("not.possible", `The rig stores at most ${poolSlots} pools; remove one first`);
