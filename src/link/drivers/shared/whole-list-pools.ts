import { RigbridgeError } from "../../../contract/problems.ts";
import type { PoolAction, PoolControls, PoolLogin, PoolReading } from "../../driver.ts";
import type { PoolPassword } from "../../link.ts";
import { checkLogin } from "../../pool-login.ts";
import { lastPool, listedPool } from "./listed-pool.ts";
import { redacted } from "./redact.ts";

/** How many pools such a rig stores. */
const slots = 3;

interface List {
  pools(signal: AbortSignal): Promise<PoolReading[]>;
  writePools(logins: readonly PoolLogin[], signal: AbortSignal): Promise<string>;
}

/**
 * The pools of a rig that accepts only whole lists and never reveals their passwords. A list is written only
 * if the password of every pool in it is known: from the configured pools, from an earlier write, or from the given
 * login.
 */
export class WholeListPools {
  /** Passwords that the device accepted, by URL and worker. */
  readonly #passwords = new Map<string, string>();
  readonly #make: string;
  readonly #list: () => Promise<List>;
  readonly #configured: PoolPassword;

  /** `make`: with its article, for messages. */
  constructor(make: string, list: () => Promise<List>, configured: PoolPassword = () => undefined) {
    this.#make = make;
    this.#list = list;
    this.#configured = configured;
  }

  /** The actions that lose no password. */
  actions(pools: readonly PoolReading[]): PoolAction[] {
    const unknown = pools.filter((pool) => this.#passwordOf(pool) === undefined);
    const all = unknown.length === 0;
    const replaced = replacedOf(pools);
    const actions: (PoolAction | false)[] = [
      all && pools.length < slots && "add",
      unknown.every((pool) => pool === replaced) && "use",
      all && pools.length > 1 && "switch",
      all && pools.length > 1 && "prioritize",
      unknown.length <= 1 && pools.length > 1 && "remove",
    ];
    return actions.filter((action) => action !== false);
  }

  /** Why the other actions are not possible. */
  withheld(pools: readonly PoolReading[]): Partial<Record<PoolAction, string>> {
    const offered = this.actions(pools);
    const unknown = pools.filter((pool) => this.#passwordOf(pool) === undefined);
    const lost = unknown.find((pool) => pool !== replacedOf(pools)) ?? unknown[0];
    const reasons = new Map<PoolAction, string>();
    if (lost !== undefined)
      for (const action of ["add", "use", "switch", "prioritize", "remove"] as const)
        reasons.set(action, passwordUnknown(this.#make, lost.url));
    if (pools.length >= slots) reasons.set("add", full(this.#make));
    for (const action of offered) reasons.delete(action);
    return Object.fromEntries(reasons);
  }

  readonly controls: PoolControls = {
    add: async (login, signal) =>
      this.#change(signal, (pools, added) => appended(this.#make, pools, added), checked(login)),
    use: async (login, signal) => this.#change(signal, inPlace, checked(login)),
    switch: (pool, signal) => this.#change(signal, inFront, pool),
    prioritize: (pool, signal) => this.#change(signal, inFront, pool),
    remove: (pool, signal) => this.#change(signal, without, pool),
  };

  /** Reads, changes and writes the whole list. */
  async #change<T extends Listed>(
    signal: AbortSignal,
    edit: (pools: readonly PoolReading[], wanted: T) => readonly Listed[],
    wanted: T,
  ): Promise<string> {
    const list = await this.#list();
    const pools = (await list.pools(signal)).toSorted((a, b) => a.priority - b.priority);
    const logins = edit(pools, wanted).map((pool) => this.#login(pool));
    try {
      const result = await list.writePools(logins, signal);
      for (const login of logins) this.#passwords.set(keyOf(login), login.password);
      return result;
    } catch (error) {
      throw redacted(
        error,
        logins.map(({ password }) => password),
      );
    }
  }

  #passwordOf(pool: Listed): string | undefined {
    return pool.password ?? this.#passwords.get(keyOf(pool)) ?? this.#configured(pool.url, pool.worker);
  }

  #login(pool: Listed): PoolLogin {
    const { url, worker } = pool;
    const password = this.#passwordOf(pool);
    if (password !== undefined) return { url, worker, password };
    throw new RigbridgeError("not.possible", passwordUnknown(this.#make, url));
  }
}

const passwordUnknown = (make: string, url: string): string =>
  `${make} takes only whole lists of pools and hides their passwords; that of ${url} is not known and would be ` +
  "lost; add that pool to the configured pools (POST /api/pools) with its worker and password";

const full = (make: string): string => `${make} stores ${slots} pools and all are set; remove one first`;

/** A pool of a list, with its password where that is given now. */
type Listed = Pick<PoolLogin, "url" | "worker"> & Partial<Pick<PoolLogin, "password">>;

const keyOf = ({ url, worker }: Listed): string => `${url.replace(/\/$/, "").toLowerCase()} ${worker}`;

/** The pool that `use` replaces: the active one, otherwise the first. */
const replacedOf = (pools: readonly PoolReading[]): PoolReading | undefined =>
  pools.find(({ active }) => active) ?? pools.toSorted((a, b) => a.priority - b.priority)[0];

/** With its scheme written out. */
function checked(login: PoolLogin): PoolLogin {
  const { scheme, host, port } = checkLogin(login);
  return { ...login, url: `${scheme}://${host}:${port}` };
}

function appended(make: string, pools: readonly PoolReading[], login: PoolLogin): readonly Listed[] {
  const others = pools.filter((pool) => keyOf(pool) !== keyOf(login));
  if (others.length < slots) return [...others, login];
  throw new RigbridgeError("not.possible", full(make));
}

function inPlace(pools: readonly PoolReading[], login: PoolLogin): readonly Listed[] {
  const replaced = replacedOf(pools);
  return [login, ...pools.filter((pool) => pool !== replaced && keyOf(pool) !== keyOf(login))];
}

function inFront(pools: readonly PoolReading[], wanted: PoolReading): readonly Listed[] {
  const found = listedPool(pools, wanted);
  return [found, ...pools.filter((pool) => pool !== found)];
}

function without(pools: readonly PoolReading[], wanted: PoolReading): readonly Listed[] {
  const found = listedPool(pools, wanted);
  if (pools.length < 2) throw lastPool();
  return pools.filter((pool) => pool !== found);
}
