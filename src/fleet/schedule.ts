/** When a rig is next read. Pure; times are ms of the monotonic clock. */

/** The longest wait before a rig that fails is tried again. */
export const longestBackOff = 60_000;

/** After this many missed reads a miner is Disconnected. */
export const missesUntilDisconnected = 3;

/**
 * Up to this many misses it is read at its usual interval; each wait after that is an eighth longer than the previous
 * one.
 */
const missesUntilBackOff = 8;
const growth = 1 + 1 / missesUntilBackOff;

/** The next time on the rig's own grid, which keeps a fleet spread evenly over its interval. */
export function nextOnGrid(now: number, interval: number, phase: number): number {
  const offset = phase * interval;
  return Math.floor((now - offset) / interval + 1) * interval + offset;
}

/**
 * When to read next: on the grid while the rig answers, with exponential back-off (up to a minute) if it does not. The
 * wait is an eighth of its time offline, so that a rig is back soon after a short power cut.
 */
export function nextRead(now: number, interval: number, phase: number, missed: number): number {
  if (missed < missesUntilBackOff || interval >= longestBackOff) return nextOnGrid(now, interval, phase);
  const wait = Math.min(longestBackOff, interval * growth ** (missed - missesUntilBackOff));
  return now + wait * (0.8 + 0.2 * phase);
}

/** Minimum reads in a batch, and the longest wait for them: waking up for a single rig costs more than its read. */
const batchReads = 16;
const longestBatchMs = 100;

/** ms between two batches of reads, by the reads per second; 0 if batches would contain only one. */
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

  /** When the first item is due; Infinity if there is none. */
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

  /** The first item, if it is due. */
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
