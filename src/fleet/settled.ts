import type { PolledRig } from "./poller.ts";

/** Waits for the next read of any rig. */
export class NextRead {
  #waiting: (() => void)[] = [];

  wait(): Promise<void> {
    return new Promise((resolve) => this.#waiting.push(resolve));
  }

  /** A read has ended. */
  ended(): void {
    if (this.#waiting.length === 0) return;
    const waiting = this.#waiting;
    this.#waiting = [];
    for (const resolve of waiting) resolve();
  }
}

/** Resolves when each rig has been read since it was added, and no exchange is running. */
export async function settledRigs(rigs: () => Iterable<PolledRig>, nextRead: NextRead): Promise<void> {
  for (;;) {
    const unsettled = [...rigs()].find((rig) => rig.busy || isStillUnread(rig));
    if (unsettled === undefined) return;
    if (unsettled.busy) await unsettled.exclusively(async () => undefined);
    else await nextRead.wait();
  }
}

const isStillUnread = ({ declared, state }: PolledRig): boolean =>
  !declared.disabled && state.at === null && state.missed === 0 && state.trouble === null;
