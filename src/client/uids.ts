/** What identifies a foreign server's miner. */
export interface MinerSigns {
  readonly id: number;
  /** As the server writes it; "" when unknown. */
  readonly macAddress: string;
}

/**
 * Uids of a foreign server's miners: the MAC address as 12 lower-case hex digits, else `<server name>-<id>`. If two miners
 * have the same address, the lower id gets it; a miner keeps its uid as long as the client is open.
 */
export class Uids {
  readonly #server: string;
  readonly #uids = new Map<number, string>();
  readonly #holders = new Map<string, number>();

  constructor(serverName: string) {
    this.#server = slug(serverName);
  }

  /** Assigns uids to miners that were read together; `complete` if these are all miners of the server. */
  assign(miners: readonly MinerSigns[], complete: boolean): void {
    const here = complete ? new Set(miners.map(({ id }) => id)) : undefined;
    for (const miner of miners.filter(({ id }) => !this.#uids.has(id)).toSorted((a, b) => a.id - b.id)) {
      const mac = plainMac(miner.macAddress);
      const holder = this.#holders.get(mac);
      // A miner that was removed and added again has another id.
      const isFree = holder === undefined || here?.has(holder) === false;
      if (mac === "") continue;
      if (isFree) this.#holders.set(mac, miner.id);
      this.#uids.set(miner.id, isFree ? mac : this.#byId(miner.id));
      if (isFree && holder !== undefined) this.#uids.delete(holder);
    }
  }

  of(id: number): string {
    return this.#uids.get(id) ?? this.#byId(id);
  }

  #byId(id: number): string {
    return `${this.#server.slice(0, 63 - String(id).length)}-${id}`;
  }
}

function plainMac(text: string): string {
  const digits = text.replace(/[:.\s-]/g, "").toLowerCase();
  return /^[0-9a-f]{12}$/.test(digits) && !/^(0+|f+)$/.test(digits) ? digits : "";
}

const slug = (name: string): string =>
  name
    .toLowerCase()
    .replace(/[^a-z0-9]+/g, "-")
    .replace(/^-+|-+$/g, "") || "server";
