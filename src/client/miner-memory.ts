import { type Control, type Readings, type Reason, unknownBoard } from "../contract/readings.ts";

/** s: run times are given in minutes, and the clocks of server and rig drift. */
const tolerance = 120;

/** The boards, fans and controls of a miner, as last read. */
export interface Shape {
  readonly boards: Readings["boards"];
  readonly fans: Readings["fans"];
  readonly controls: readonly Control[];
}

const shapeless: Shape = { boards: [], fans: [], controls: [] };

/** The same shape with all values unknown. */
export const emptied = ({ boards, fans, controls }: Shape) => ({
  boards: boards.map(({ slot }) => unknownBoard(slot)),
  fans: fans.map(() => ({ rpm: null, percent: null })),
  controls: controls.map((control): Control => ({ ...control, value: null })),
});

/** State of a foreign server's miners, kept as long as the client is open. */
export class MinerMemory {
  readonly #starts = new Map<number, number>();
  readonly #reasons = new Map<number, Reason>();
  readonly #shapes = new Map<number, Shape>();

  /**
   * The start of mining in epoch ms, from the time of a read (epoch ms) and the run time at that time (s); null if
   * unknown. It changes only when mining really restarts.
   */
  start(minerId: number, at: number, uptime: number | null): number | null {
    if (uptime === null) return null;
    const start = at - uptime * 1000;
    const known = this.#starts.get(minerId);
    if (known !== undefined && Math.abs(known - start) <= tolerance * 1000) return known;
    this.#starts.set(minerId, start);
    return start;
  }

  /**
   * The reason why a miner is not hashing, with its first occurrence (`at`, epoch ms); `halt` is null if it is hashing.
   */
  reason(minerId: number, at: number, halt: Omit<Reason, "since"> | null): Reason | null {
    const known = this.#reasons.get(minerId);
    const since = known?.code === halt?.code ? known?.since : undefined;
    const reason = halt && { ...halt, since: since ?? new Date(at).toISOString() };
    if (reason === null) this.#reasons.delete(minerId);
    else this.#reasons.set(minerId, reason);
    return reason;
  }

  /** The last known shape of a miner, which it keeps while it is off. */
  shape(minerId: number): Shape {
    return this.#shapes.get(minerId) ?? shapeless;
  }

  keep(minerId: number, { boards, fans, controls }: Shape): void {
    this.#shapes.set(minerId, { boards, fans, controls });
  }
}
