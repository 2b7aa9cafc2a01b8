import { Turns } from "../../fleet/turns.ts";

export interface Pace {
  /** Pieces of work at once. */
  readonly parallel: number;
  /** ms between two starts. */
  readonly delay: number;
  /** Nothing is started once it is aborted; what has begun is not cut. */
  readonly signal: AbortSignal;
  /** Waits so many ms, or until the signal is aborted; never rejects. */
  pause(ms: number, signal: AbortSignal): Promise<void>;
}

/** Works through the items in order; a slow one keeps only its own place. The work never rejects. */
export async function paced<T extends NonNullable<unknown>>(
  items: readonly T[],
  { parallel, delay, signal, pause }: Pace,
  work: (item: T) => Promise<void>,
): Promise<void> {
  const starts = new Turns();
  let rest: Promise<void> = Promise.resolve();
  let begun = 0;
  const next = () =>
    starts.take(async () => {
      await rest;
      if (signal.aborted) return undefined;
      const item = items[begun];
      begun += 1;
      if (delay > 0 && begun < items.length) rest = pause(delay, signal);
      return item;
    });
  const place = async (): Promise<void> => {
    for (let item = await next(); item !== undefined; item = await next()) await work(item);
  };
  await Promise.all(Array.from({ length: Math.min(parallel, items.length) }, place));
}
