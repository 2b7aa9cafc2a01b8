import { Mutex } from "../../async/index.ts";

export interface PacedOptions {
  /** Concurrent items. */
  readonly parallel: number;
  /** ms between two starts. */
  readonly delayMs: number;
  /** Once aborted, nothing more starts; running items continue. */
  readonly signal: AbortSignal;
  /** Resolves after this time or when the signal is aborted; never rejects. */
  wait(ms: number, signal: AbortSignal): Promise<void>;
}

/** Processes the items in order; a slow item delays only its own worker. `work` never rejects. */
export async function runPaced<T extends NonNullable<unknown>>(
  items: readonly T[],
  { parallel, delayMs, signal, wait }: PacedOptions,
  work: (item: T) => Promise<void>,
): Promise<void> {
  const starts = new Mutex();
  let delayed: Promise<void> = Promise.resolve();
  let started = 0;
  const next = () =>
    starts.run(async () => {
      await delayed;
      if (signal.aborted) return undefined;
      const item = items[started];
      started += 1;
      if (delayMs > 0 && started < items.length) delayed = wait(delayMs, signal);
      return item;
    });
  const worker = async (): Promise<void> => {
    for (let item = await next(); item !== undefined; item = await next()) await work(item);
  };
  await Promise.all(Array.from({ length: Math.min(parallel, items.length) }, worker));
}
