import { BroadcastChannel, threadId } from "node:worker_threads";
import "../../src/fleet/workers/thread.ts";

/** A thread as pollers run it, which fails when a test says so (test/fleet/faulty-threads.ts). */

const channel = new BroadcastChannel("faulty threads");

const faults: Readonly<Record<string, () => void>> = {
  throws: () => {
    throw new TypeError("an invented fault of a worker thread");
  },
  hangs: () => {
    for (;;);
  },
  "runs out of memory": () => {
    const hoard: object[] = [];
    for (;;) hoard.push(Array.from({ length: 10_000 }, (_, index) => ({ index })));
  },
};

channel.onmessage = ({ data }: { data: unknown }) => {
  if (data === "who?") channel.postMessage(threadId);
  else if (Array.isArray(data) && data[0] === threadId) faults[String(data[1])]?.();
};
