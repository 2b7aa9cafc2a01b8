import type { NodeAPI } from "node-red";
import { z } from "zod";
import { count, required } from "../shared/config.ts";
import { defineNode, type NodeKind, type Running, type Work } from "../shared/define-node.ts";
import { minerFields } from "../shared/miner-choice.ts";
import { Poller } from "./poller.ts";
import { NotificationReporter } from "./reporter.ts";

const NotificationInConfig = z.object({
  service: required,
  ...minerFields,
  /** In title or message; empty = any. */
  text: z.string().max(200, "too-long").default(""),
  textKind: z.enum(["contains", "regex"]).default("contains"),
  warningsOnly: z.boolean().default(false),
  tellNew: z.boolean().default(true),
  tellChanged: z.boolean().default(true),
  tellClosed: z.boolean().default(true),
  /** Without memory, sends the notifications that are not acknowledged yet. */
  openAtFirst: z.boolean().default(false),
  /** Acknowledges what it has sent. */
  acknowledge: z.boolean().default(false),
  /** Messages per minute. */
  limit: count(1, 6000, 30),
  /** s between reads of the list without an event. */
  interval: count(1, 3600, 30),
});
export type NotificationInConfig = z.infer<typeof NotificationInConfig>;

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
  const reporter = new NotificationReporter(work);
  const intervalMs = work.config.interval * 1000;
  const poller = new Poller({ poll: () => reporter.poll(), intervalMs, minIntervalMs, clock: work.clock });
  return {
    member: {
      notification: (notification) => {
        reporter.receive(notification);
        poller.soon();
      },
      // If the lists were read again without `lost`, events may have been missed.
      read: () => poller.soon(),
      phase: ({ kind }) => {
        if (kind === "connected") poller.soon();
        else poller.pause();
      },
    },
    close: () => {
      poller.pause();
      reporter.close();
    },
  };
}
