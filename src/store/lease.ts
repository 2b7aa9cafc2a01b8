import { randomBytes } from "node:crypto";
import { setTimeout as sleep } from "node:timers/promises";
import type { QueryResult } from "pg";
import { type Moment, momentNow, SendDeadline } from "../async/index.ts";
import type { ActingLease } from "../contract/lease.ts";
import { RigbridgeError } from "../contract/problems.ts";
import { PostgresSession } from "./postgres-session.ts";

/** One service at a time acts on a store in PostgreSQL: the one that holds its lease. */
export interface Lease extends ActingLease {
  /** Resolves once another service has the lease: what this one has in memory may differ from the store. */
  readonly lost: Promise<void>;
}

/** Another service that holds the lease. */
export interface Holder {
  /** Where it serves; null if it has not said. */
  readonly address: string | null;
  readonly epoch: number;
  readonly secret: string;
}

export interface LeaseOptions {
  readonly url: string;
  /** Of the site whose services share the store. */
  readonly site: string;
  /** Where this service serves, for the others. */
  readonly address: string | null;
  /** Ends the wait. */
  readonly signal?: AbortSignal | undefined;
  /** Called while another service holds the lease, whenever that is another one; null: nobody is seen, the database is away. */
  readonly waiting?: ((holder: Holder | null) => void) | undefined;
}

/**
 * How long a service goes without a renewal before another takes its place. Each counts by its own steady clock: the
 * holder from before a renewal is sent, the other from after it has seen one. So no two clocks are compared, not even with
 * the database's.
 */
export const leaseMs = 3_000;
const renewMs = 500;
const watchMs = 250;
/** The holder stops this much earlier, for what is under way. */
const marginMs = 500;
/** For one statement, after which it is asked again. */
const timeoutMs = 1_500;

/** SQLSTATE of `fence`. */
export const fencedState = "RB001";

/**
 * The lease and its fence. `fence` is the first statement of each write, which it refuses once another service has the
 * lease. It locks the row against another holder only: epoch and holder are in a key, so that a renewal, which changes
 * neither, waits for no write.
 */
export const leaseTables: readonly string[] = [
  `create table lease (
    "only" bigint primary key check ("only" = 1),
    site text collate "C",
    holder text collate "C" not null,
    address text collate "C",
    epoch bigint not null,
    beat bigint not null,
    unique (holder, epoch)
  )`,
  "insert into lease values (1, null, '', null, 0, 0)",
  `create function fence(by text, at bigint) returns void language plpgsql as $$
  begin
    perform 1 from lease where holder = by and epoch = at for key share;
    if not found then raise exception 'another service has the lease' using errcode = '${fencedState}'; end if;
  end $$`,
];

interface Row {
  readonly site: string | null;
  readonly holder: string;
  readonly address: string | null;
  readonly epoch: number;
  readonly beat: number;
}

export class PostgresLease implements Lease {
  readonly holder: string;
  readonly epoch: number;
  readonly since = Date.now();
  readonly lost: Promise<void>;
  readonly deadline = new SendDeadline();
  #renewedAt = performance.now();
  readonly #line: Line;
  readonly #ended = new AbortController();
  readonly #lose: () => void;
  #isLost = false;
  readonly #renewing: Promise<void>;

  private constructor(line: Line, holder: string, epoch: number, taken: Moment) {
    this.#line = line;
    this.holder = holder;
    this.epoch = epoch;
    this.#renewed(taken);
    const { promise, resolve } = Promise.withResolvers<void>();
    this.lost = promise;
    this.#lose = resolve;
    this.#renewing = this.#renew();
  }

  /**
   * Resolves once this process has the lease. Rejects with the reason of the signal; throws store.refused if the store is
   * that of another site: the first service names it.
   */
  static async take({ url, site, address, signal, waiting }: LeaseOptions): Promise<PostgresLease> {
    const line = new Line(url);
    const holder = randomBytes(16).toString("hex");
    /** What was seen last, and since when it is the same. */
    let seen: { readonly row: Row; readonly since: number } | null = null;
    let told: number | null | undefined;
    try {
      for (;;) {
        signal?.throwIfAborted();
        const row = await line.read();
        if (row !== null && row.site !== null && row.site !== site) throw otherSite(row.site, site);
        const now = performance.now();
        // While the database was away nobody could renew: the holder gets its time again.
        if (row === null) seen = null;
        else if (seen === null || seen.row.epoch !== row.epoch || seen.row.beat !== row.beat)
          seen = { row, since: now };
        if (row !== null && seen !== null && (row.holder === "" || now - seen.since >= leaseMs)) {
          const taken = momentNow();
          if (await line.takes(row, { holder, site, address }))
            return new PostgresLease(line, holder, row.epoch + 1, taken);
          continue;
        }
        const next = row?.epoch ?? null;
        if (told !== next)
          waiting?.(row === null ? null : { address: row.address, epoch: row.epoch, secret: row.holder });
        told = next;
        await sleep(watchMs, undefined, { signal });
      }
    } catch (error) {
      await line.close();
      signal?.throwIfAborted();
      throw error;
    }
  }

  /** The name that fences its writes is random, and read only from the store. */
  get secret(): string {
    return this.holder;
  }

  age(): number {
    return performance.now() - this.#renewedAt;
  }

  /** False while the database is away, and after the process was stopped. */
  mayAct(): boolean {
    return !this.deadline.isOver;
  }

  /** Gives the lease up, so that another service takes it at once. */
  async release(): Promise<void> {
    this.#ended.abort();
    await this.#renewing;
    if (!this.#isLost) await this.#line.releases(this);
    this.#isLost = true;
    this.deadline.end();
    await this.#line.close();
  }

  /** `sent`: before the renewal left. A clock that was set forward meanwhile only has the lease renewed first. */
  #renewed(sent: Moment): void {
    this.deadline.moveTo(sent, leaseMs - marginMs);
    this.#renewedAt = performance.now();
  }

  async #renew(): Promise<void> {
    const { signal } = this.#ended;
    while (!signal.aborted) {
      await sleep(renewMs, undefined, { signal, ref: false }).catch(() => undefined);
      if (signal.aborted) return;
      const sent = momentNow();
      const renewed = await this.#line.renews(this);
      if (renewed === true) this.#renewed(sent);
      if (renewed === false) {
        this.#isLost = true;
        this.deadline.end();
        this.#lose();
        return;
      }
    }
  }
}

const otherSite = (there: string, site: string): RigbridgeError =>
  new RigbridgeError(
    "store.refused",
    `The database of store.url holds the site "${there}", and store.site is "${site}"; choose another database, or give ` +
      "all services of one site the same name. Nothing was changed.",
  );

interface Own {
  readonly holder: string;
  readonly epoch: number;
}

/** The connection for the lease alone, so that no write delays a renewal. Null from each call: the database is away. */
class Line {
  readonly #url: string;
  #session: PostgresSession | null = null;

  constructor(url: string) {
    this.#url = url;
  }

  async read(): Promise<Row | null> {
    const rows = await this.#run("select site, holder, address, epoch, beat from lease", []);
    return rows?.[0] ?? null;
  }

  /** Whether it was taken from the row that was seen; false if another service was faster, or the holder has renewed it. */
  takes(seen: Row, own: { holder: string; site: string; address: string | null }): Promise<boolean | null> {
    return this.#changes(
      `update lease set holder = $1, site = coalesce(site, $2), address = $3, epoch = epoch + 1, beat = 0
        where holder = $4 and epoch = $5 and beat = $6`,
      [own.holder, own.site, own.address, seen.holder, seen.epoch, seen.beat],
    );
  }

  renews({ holder, epoch }: Own): Promise<boolean | null> {
    return this.#changes("update lease set beat = beat + 1 where holder = $1 and epoch = $2", [holder, epoch]);
  }

  async releases({ holder, epoch }: Own): Promise<void> {
    await this.#changes("update lease set holder = '', address = null where holder = $1 and epoch = $2", [
      holder,
      epoch,
    ]);
  }

  async close(): Promise<void> {
    await this.#session?.close();
  }

  async #changes(text: string, values: readonly unknown[]): Promise<boolean | null> {
    const rows = await this.#run(`${text} returning epoch`, values);
    return rows === null ? null : rows.length > 0;
  }

  async #run(text: string, values: readonly unknown[]): Promise<QueryResult["rows"] | null> {
    try {
      if (this.#session?.isOpen !== true)
        this.#session = await PostgresSession.open({
          url: this.#url,
          program: "rigbridge lease",
          readOnly: false,
          timeoutMs,
          connectMs: timeoutMs,
        });
      return (await this.#session.query(text, values)).rows;
    } catch {
      // Asked again over another connection, whatever it was: only an answer counts.
      this.#session?.destroy();
      this.#session = null;
      return null;
    }
  }
}
