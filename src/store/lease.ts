import { randomBytes } from "node:crypto";
import { setTimeout as sleep } from "node:timers/promises";
import type { QueryResult } from "pg";
import { type Moment, momentNow, SendDeadline } from "../async/send-deadline.ts";
import type { ActingLease } from "../contract/lease.ts";
import { RigbridgeError } from "../contract/problems.ts";
import { LeaseMark, type LeasePoint } from "./lease-mark.ts";
import { PostgresSession } from "./postgres-session.ts";

/** One service at a time acts on a store in PostgreSQL: the one that holds its lease. */
export interface Lease extends ActingLease {
  /** Resolves once another service has the lease: what this one has in memory may differ from the store. */
  readonly lost: Promise<void>;
  /** The database was restored from a backup, since which anything may have been sent. */
  readonly isRestored: boolean;
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
  /** Where this service keeps what it has seen of the lease; absent: nowhere, so it does not notice a restored database. */
  readonly markFile?: string | undefined;
  /** The database was restored, also if this service has not seen a later one. */
  readonly acceptRestored?: boolean | undefined;
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

/** The epochs that taking the lease of a restored database skips: others may have seen higher ones than this service. */
const skippedEpochs = 1_000;

/** In place of the id of the last run: the database was restored from a backup, and its open rows are not settled yet. */
export const restoredRun = "";

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

interface Row extends LeasePoint {
  readonly site: string | null;
  readonly holder: string;
  readonly address: string | null;
}

export class PostgresLease implements Lease {
  readonly holder: string;
  readonly epoch: number;
  readonly since = Date.now();
  readonly lost: Promise<void>;
  readonly deadline = new SendDeadline();
  readonly isRestored: boolean;
  #renewedAt = performance.now();
  readonly #line: Line;
  readonly #mark: LeaseMark;
  readonly store: string;
  readonly #ended = new AbortController();
  readonly #lose: () => void;
  #isLost = false;
  readonly #renewing: Promise<void>;

  private constructor({ line, mark, instance, holder, epoch, isRestored, at }: Taken) {
    this.#line = line;
    this.#mark = mark;
    this.store = instance;
    this.holder = holder;
    this.epoch = epoch;
    this.isRestored = isRestored;
    this.#renewed(at);
    mark.saw({ instance, epoch, beat: 0 });
    const { promise, resolve } = Promise.withResolvers<void>();
    this.lost = promise;
    this.#lose = resolve;
    this.#renewing = this.#renew();
  }

  /**
   * Resolves once this process has the lease. Rejects with the reason of the signal; throws store.refused if the store is
   * that of another site: the first service names it; also if the database is behind what this service has seen of it.
   */
  static async take(options: LeaseOptions): Promise<PostgresLease> {
    const { url, site, address, markFile = null, acceptRestored = false, signal, waiting } = options;
    const line = new Line(url);
    const mark = new LeaseMark(markFile);
    const holder = randomBytes(16).toString("hex");
    /** What was seen last, and since when it is the same. */
    let seen: { readonly row: Row; readonly since: number } | null = null;
    let told: number | null | undefined;
    try {
      for (;;) {
        signal?.throwIfAborted();
        const row = await line.read();
        if (row !== null && row.site !== null && row.site !== site) throw otherSite(row.site, site);
        if (row !== null && !acceptRestored) mark.check(row);
        const seenBefore = row === null ? null : mark.seenAhead(row);
        if (row !== null && seenBefore === null) mark.saw(row);
        const now = performance.now();
        // While the database was away nobody could renew: the holder gets its time again.
        if (row === null) seen = null;
        else if (seen === null || seen.row.epoch !== row.epoch || seen.row.beat !== row.beat)
          seen = { row, since: now };
        if (row !== null && seen !== null && (row.holder === "" || now - seen.since >= leaseMs)) {
          const at = momentNow();
          const epoch = acceptRestored ? (seenBefore ?? row).epoch + skippedEpochs : row.epoch + 1;
          const taken = await line.takes(row, { holder, site, address, epoch, isRestored: acceptRestored });
          if (taken !== null)
            return new PostgresLease({ line, mark, instance: row.instance, holder, epoch, at, ...taken });
          continue;
        }
        const next = row?.epoch ?? null;
        if (told !== next)
          waiting?.(row === null ? null : { address: row.address, epoch: row.epoch, secret: row.holder });
        told = next;
        await sleep(watchMs, undefined, { signal });
      }
    } catch (error) {
      mark.save();
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

  isLast(): boolean {
    return !this.#isLost;
  }

  /** Gives the lease up, so that another service takes it at once. */
  async release(): Promise<void> {
    this.#ended.abort();
    await this.#renewing;
    // First, since another service may have the lease before the answer is here.
    this.deadline.end();
    if (!this.#isLost) await this.#line.releases(this);
    this.#isLost = true;
    this.#mark.save();
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
      const beat = await this.#line.renews(this);
      if (beat === null) continue;
      const point = { instance: this.store, epoch: this.epoch, beat: beat ?? 0 };
      // A backup of this epoch was restored beneath this service: what it has in memory is ahead of the store.
      if (beat === undefined || this.#mark.seenAhead(point) !== null) {
        this.#isLost = true;
        this.deadline.end();
        this.#lose();
        return;
      }
      this.#renewed(sent);
      this.#mark.saw(point);
    }
  }
}

const otherSite = (there: string, site: string): RigbridgeError =>
  new RigbridgeError(
    "store.refused",
    `The database of store.url holds the site "${there}", and store.site is "${site}"; choose another database, or give ` +
      "all services of one site the same name. Nothing was changed.",
  );

interface Taken {
  readonly line: Line;
  readonly mark: LeaseMark;
  readonly instance: string;
  readonly holder: string;
  readonly epoch: number;
  readonly isRestored: boolean;
  readonly at: Moment;
}

/** By which a service acts. */
export interface Own {
  readonly holder: string;
  readonly epoch: number;
}

export const readsLease =
  "select site, holder, address, epoch, beat, (select name from instance) as instance from lease";

/** The connection for the lease alone, so that no write delays a renewal. Null from each call: the database is away. */
class Line {
  readonly #url: string;
  #session: PostgresSession | null = null;

  constructor(url: string) {
    this.#url = url;
  }

  async read(): Promise<Row | null> {
    const rows = await this.#run(readsLease, []);
    return rows?.[0] ?? null;
  }

  /**
   * Takes it from the row that was seen; null if another service was faster, or the holder has renewed it. That the database
   * was restored is kept in the row of its last run, which the next run replaces once it has settled all others: so the
   * database counts as restored also if this process ends before.
   */
  async takes(
    seen: Row,
    { holder, site, address, epoch, isRestored }: Own & { site: string; address: string | null; isRestored: boolean },
  ): Promise<{ readonly isRestored: boolean } | null> {
    const rows = await this.#run(
      `with taken as (
          update lease set holder = $1, site = coalesce(site, $2), address = $3, epoch = $4, beat = 0
            where holder = $5 and epoch = $6 and beat = $7 returning epoch
        ), marked as (update run set id = '${restoredRun}' from taken where $8 = 1)
        select (select count(*) from run where id = '${restoredRun}') as restored from taken`,
      [holder, site, address, epoch, seen.holder, seen.epoch, seen.beat, isRestored ? 1 : 0],
    );
    const taken = rows?.[0];
    return taken === undefined ? null : { isRestored: isRestored || taken.restored > 0 };
  }

  /** The number of renewals; undefined if another service has the lease. */
  async renews({ holder, epoch }: Own): Promise<number | undefined | null> {
    const rows = await this.#run("update lease set beat = beat + 1 where holder = $1 and epoch = $2 returning beat", [
      holder,
      epoch,
    ]);
    return rows === null ? null : rows[0]?.beat;
  }

  async releases({ holder, epoch }: Own): Promise<void> {
    await this.#run("update lease set holder = '', address = null where holder = $1 and epoch = $2", [holder, epoch]);
  }

  async close(): Promise<void> {
    await this.#session?.close();
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
