/** When a rig is read next. Pure; times are milliseconds of a monotonic clock. */

/** The longest wait before a rig that fails is tried again. */
export const longestBackOff = 60_000;

/** After this many missed reads a miner is Disconnected. */
export const missesUntilDisconnected = 3;

/** Until then it is read at its usual interval, and each wait after that is an eighth longer than the one before. */
const missesUntilBackOff = 8;
const growth = 1 + 1 / missesUntilBackOff;

/** The next time on the rig's own grid, which keeps a fleet spread evenly over its interval. */
export function nextOnGrid(now: number, interval: number, phase: number): number {
  const offset = phase * interval;
  return Math.floor((now - offset) / interval + 1) * interval + offset;
}

/**
 * When to read next: on the grid while the rig answers, with exponential back-off (up to a minute) when it does not. The
 * wait is an eighth of the time that it has been away, so that a rig whose power was cut briefly is back soon.
 */
export function nextRead(now: number, interval: number, phase: number, missed: number): number {
  if (missed < missesUntilBackOff || interval >= longestBackOff) return nextOnGrid(now, interval, phase);
  const wait = Math.min(longestBackOff, interval * growth ** (missed - missesUntilBackOff));
  return now + wait * (0.8 + 0.2 * phase);
}

/** Reads that a batch should have, and the longest wait for them: waking for each rig alone costs more than its read. */
const batchReads = 16;
const longestBatchMs = 100;

/** ms between two batches of reads, by the reads per second; 0 where batches would hold only one. */
export function batchMs(rate: number): number {
  return (rate * longestBatchMs) / 1000 < 1 ? 0 : Math.min(longestBatchMs, (1000 * batchReads) / rate);
}

/** A rig's phase in the interval, 0 to 1, from its id alone: steps of the golden ratio never cluster. */
export const phaseOf = (id: number): number => (id * 0.618_033_988_749_894_9) % 1;

/** Items by due time: a binary heap, since 40,000 rigs are rescheduled 4,000 times a second. */
export class DueQueue<T> {
  readonly #heap: { at: number; item: T }[] = [];

  get size(): number {
    return this.#heap.length;
  }

  /** When the first one is due, Infinity when there is none. */
  get nextAt(): number {
    return this.#heap[0]?.at ?? Number.POSITIVE_INFINITY;
  }

  add(at: number, item: T): void {
    const heap = this.#heap;
    const entry = { at, item };
    let index = heap.length;
    heap.push(entry);
    while (index > 0) {
      const above = (index - 1) >> 1;
      const parent = heap[above];
      if (parent === undefined || parent.at <= at) break;
      heap[index] = parent;
      index = above;
    }
    heap[index] = entry;
  }

  /** The first one, if it is due. */
  take(now: number): T | undefined {
    const heap = this.#heap;
    const first = heap[0];
    if (first === undefined || first.at > now) return undefined;
    const last = heap.pop();
    if (last !== undefined && heap.length > 0) this.#sink(last);
    return first.item;
  }

  #sink(entry: { at: number; item: T }): void {
    const heap = this.#heap;
    let index = 0;
    for (;;) {
      let below = 2 * index + 1;
      const left = heap[below];
      if (left === undefined) break;
      const right = heap[below + 1];
      const smaller = right !== undefined && right.at < left.at ? right : left;
      if (smaller === right) below += 1;
      if (smaller.at >= entry.at) break;
      heap[index] = smaller;
      index = below;
    }
    heap[index] = entry;
  }
}
