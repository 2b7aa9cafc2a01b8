import type { NodeAPI } from "node-red";
import { defineNode, type NodeKind, type Running, type Work } from "../shared/define-node.ts";
import { wordsOf } from "../shared/faults.ts";
import { fileOf } from "../shared/user-folder.ts";
import { MemoryFile } from "./memory-file.ts";
import { Poller } from "./poller.ts";
import { NotificationReporter } from "./reporter.ts";
import { NotificationInConfig } from "./settings.ts";

export const notificationIn: NodeKind<NotificationInConfig> = {
  type: "rigbridge-notification-in",
  version: 1,
  migrations: [],
  schema: NotificationInConfig,
  start,
};

/** Many events within this time cause one read of the list. */
const minIntervalMs = 500;

/** Sends new, changed and closed notifications. */
export default function register(RED: NodeAPI): void {
  defineNode(RED, notificationIn);
}

function start(work: Work<NotificationInConfig>): Running {
  const memory = new MemoryFile(fileOf(work.RED, `${work.node.id}.notifications.json`), work.node);
  const reporter = new NotificationReporter(work, memory);
  const intervalMs = work.config.interval * 1000;
  const poller = new Poller({
    poll: (isWhole) => reporter.poll(isWhole),
    intervalMs,
    minIntervalMs,
    clock: work.clock,
  });
  return {
    member: {
      notification: (notification) => {
        reporter.receive(notification);
        poller.soon();
      },
      notificationsHandled: (what, ids) => {
        reporter.handled(what, ids);
        poller.soon();
      },
      // If the lists were read again without `lost`, events may have been missed.
      read: () => poller.soon(),
      phase: ({ kind }) => {
        if (kind === "connected") poller.soon();
        else poller.pause();
      },
    },
    close: async (isDeleted) => {
      poller.pause();
      reporter.close();
      // The last sent notifications would be sent again after a restart.
      if (isDeleted) await memory.remove().catch((error: unknown) => work.node.warn(wordsOf(error)));
      else await memory.settled();
    },
  };
}
