import { BroadcastChannel } from "node:worker_threads";
import { until } from "../until.ts";

export const faultyThread = new URL("faulty-thread.ts", import.meta.url);

export type ThreadFault = "throws" | "hangs" | "runs out of memory";

/** Makes one of the threads of faulty-thread.ts fail: the oldest. */
export async function failThread(fault: ThreadFault): Promise<void> {
  const channel = new BroadcastChannel("faulty threads");
  const threads = new Set<number>();
  channel.onmessage = ({ data }: { data: unknown }) => {
    if (typeof data === "number") threads.add(data);
  };
  try {
    channel.postMessage("who?");
    await until(() => threads.size > 0, "a thread to answer");
    channel.postMessage([Math.min(...threads), fault]);
  } finally {
    channel.close();
  }
}
