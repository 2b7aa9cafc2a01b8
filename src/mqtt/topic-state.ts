import { urgencyOf } from "./dead-band.ts";
import type { MinerState } from "./miner-state.ts";

/** What was last published at a topic, and when it is published again. */
export interface TopicState {
  state: MinerState | null;
  /** Epoch ms. */
  at: number;
  due: number;
}

/** An unchanged state is published again after this time. */
export const heartbeatMs = 60_000;
/** The broker drops a state after this time (MQTT 5). */
export const expirySeconds = 180;

/** Whether to publish a state now; if it is due later, `topic.due` is brought forward. */
export function isDue(topic: TopicState, state: MinerState, now: number, interval: number, always: boolean): boolean {
  if (always || topic.state === null || topic.due <= now) return true;
  const urgency = urgencyOf(topic.state, state);
  const next = topic.at + interval * 1000;
  if (urgency === "now" || (urgency === "soon" && next <= now)) return true;
  if (urgency === "soon") topic.due = Math.min(topic.due, next);
  return false;
}

/** Spreads the heartbeats of topics that were published together. */
export function markPublished(topic: TopicState, state: MinerState, now: number): void {
  topic.state = state;
  topic.at = now;
  topic.due = now + heartbeatMs * (0.75 + Math.random() / 4);
}
