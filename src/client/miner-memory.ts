import { type Control, type Readings, type Reason, unknownBoard } from "../contract/readings.ts";

/** s. Run times are written in minutes, and the clocks of server and rig drift. */
const tolerance = 120;

/** What a miner has while it can be reached: how many boards and fans, and what it can be told. */
export interface Shape {
  readonly boards: Readings["boards"];
  readonly fans: Readings["fans"];
  readonly controls: readonly Control[];
}

const shapeless: Shape = { boards: [], fans: [], controls: [] };

/** The same with everything unknown. */
export const emptied = ({ boards, fans, controls }: Shape) => ({
  boards: boards.map(({ slot }) => unknownBoard(slot)),
  fans: fans.map(() => ({ rpm: null, percent: null })),
  controls: controls.map((control): Control => ({ ...control, value: null })),
});

/** What is remembered of a foreign server's miners for as long as the client is open. */
export class MinerMemory {
  readonly #starts = new Map<number, number>();
  readonly #reasons = new Map<number, Reason>();
  readonly #shapes = new Map<number, Shape>();

  /**
   * When a miner started mining, in epoch ms, from when it was read (epoch ms) and its run time then (s); null where
   * that is not known. It moves only when mining really starts anew.
   */
  start(minerId: number, at: number, uptime: number | null): number | null {
    if (uptime === null) return null;
    const start = at - uptime * 1000;
    const known = this.#starts.get(minerId);
    if (known !== undefined && Math.abs(known - start) <= tolerance * 1000) return known;
    this.#starts.set(minerId, start);
    return start;
  }

  /** Why a miner does not hash, since when that was first read (`at`, epoch ms); `halt` null = it does. */
  reason(minerId: number, at: number, halt: Omit<Reason, "since"> | null): Reason | null {
    const known = this.#reasons.get(minerId);
    const since = known?.code === halt?.code ? known?.since : undefined;
    const reason = halt && { ...halt, since: since ?? new Date(at).toISOString() };
    if (reason === null) this.#reasons.delete(minerId);
    else this.#reasons.set(minerId, reason);
    return reason;
  }

  /** A miner that is off keeps its shape. */
  shape(minerId: number): Shape {
    return this.#shapes.get(minerId) ?? shapeless;
  }

  keep(minerId: number, { boards, fans, controls }: Shape): void {
    this.#shapes.set(minerId, { boards, fans, controls });
  }
}
