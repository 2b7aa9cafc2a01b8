/** Runs SQL in the database of a store, as its administrator. */
type Run = (sql: string) => Promise<Record<string, unknown>[]>;

/** A change of the lease's holder, as the engine has recorded it. */
interface Change {
  /** Epoch ms. */
  readonly at: number;
  readonly epoch: number;
  /** Where the holder serves; null: nobody holds it. */
  readonly address: string | null;
}

/** Has the engine record, in the transaction itself, each change of who holds the lease. */
export const recordLease = (run: Run): Promise<unknown> =>
  run(`
    create schema proof;
    create table proof.lease (id bigint generated always as identity, at bigint, epoch bigint, holder text, address text);
    create function proof.record() returns trigger language plpgsql as $$
    begin
      insert into proof.lease (at, epoch, holder, address)
        values (extract(epoch from clock_timestamp()) * 1000, new.epoch, new.holder, new.address);
      return null;
    end $$;
    create trigger record after update of holder, epoch on rigbridge.lease for each row execute function proof.record();
    insert into proof.lease (at, epoch, holder, address) select 0, epoch, holder, address from rigbridge.lease`);

export class LeaseRecord {
  readonly #changes: readonly Change[];
  /** What must not be: two holders of one epoch, or an epoch that is not one higher. */
  readonly wrong: readonly string[];

  private constructor(changes: readonly Change[], wrong: readonly string[]) {
    this.#changes = changes;
    this.wrong = wrong;
  }

  static async read(run: Run): Promise<LeaseRecord> {
    const rows = await run("select at, epoch, holder, address from proof.lease order by id");
    const wrong: string[] = [];
    let last: { epoch: number; holder: unknown } | null = null;
    const changes = rows.map((row): Change => {
      const [epoch, isFree] = [Number(row.epoch), row.holder === ""];
      if (last !== null && epoch !== last.epoch + (isFree ? 0 : 1))
        wrong.push(`the engine's record goes from epoch ${last.epoch} to ${epoch}`);
      if (last !== null && isFree && last.holder === "") wrong.push(`epoch ${epoch} was given up twice`);
      last = { epoch, holder: row.holder };
      return { at: Number(row.at), epoch, address: isFree ? null : String(row.address) };
    });
    return new LeaseRecord(changes, wrong);
  }

  get epoch(): number {
    return this.#changes.at(-1)?.epoch ?? 0;
  }

  /** Where the service served that held the lease at a time; null: none. */
  holderAt(time: number): string | null {
    return this.#before(time)?.address ?? null;
  }

  /** The epoch at a time. */
  epochAt(time: number): number {
    return this.#before(time)?.epoch ?? 0;
  }

  /** ms since the last change before a time. */
  sinceChange(time: number): number {
    return time - (this.#before(time)?.at ?? 0);
  }

  #before(time: number): Change | undefined {
    return this.#changes.findLast(({ at }) => at <= time);
  }
}
