import type { NodeAPI } from "node-red";
import { z } from "zod";
import { count, required } from "../shared/config.ts";
import { defineNode, type NodeKind, type Running, type Work } from "../shared/define-node.ts";
import { minerFields } from "../shared/miner-choice.ts";
import { Notices } from "./notices.ts";
import { Poller } from "./poller.ts";

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
  /** Tells those that nobody has acknowledged when it begins, with nothing remembered. */
  openAtFirst: z.boolean().default(false),
  /** Acknowledges what it has sent. */
  acknowledge: z.boolean().default(false),
  /** Messages in a minute. */
  limit: count(1, 6000, 30),
  /** s after which the list is read without an event. */
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

/** ms between two looks at the list, so that many events are one. */
const pace = 500;

/** Tells what becomes of notifications. */
export default function register(RED: NodeAPI): void {
  defineNode(RED, notificationIn);
}

function start(work: Work<NotificationInConfig>): Running {
  const notices = new Notices(work);
  const { config, clock } = work;
  const looks = new Poller({ poll: () => notices.look(), interval: config.interval * 1000, pace, clock });
  return {
    member: {
      notification: (notification) => {
        notices.heard(notification);
        looks.soon();
      },
      // Where the lists were read anew, without the service having been lost, events may have been missed.
      read: () => looks.soon(),
      phase: ({ kind }) => {
        if (kind === "connected") looks.soon();
        else looks.pause();
      },
    },
    close: () => {
      looks.pause();
      notices.close();
    },
  };
}
