import type { ReceivedMessage } from "../../../contract/messages.ts";
import type { MqttSignal } from "../../../contract/signal-settings.ts";
import { numberIn, valueIn } from "../../../link/quantity.ts";
import { type SignalReading, type SignalSource, type SourceContext, unheard, wishOf } from "./signal.ts";

/** Above this a time is in ms: in seconds it would be after the year 5000. */
const leastMs = 1e11;
/** ms that a time may be ahead of this clock. */
const aheadMs = 60_000;

/** A number that is published on a topic; retained messages count by the time in them. */
export function mqttSignal(settings: MqttSignal, context: SourceContext): SignalSource {
  const { messages, now, monotonicNow, changed } = context;
  const path = settings.preset === "maestro" ? "target" : settings.path;
  const timestamp = settings.preset === "maestro" ? "timestamp" : settings.timestamp;
  const limits = { what: "a target", units: [settings.quantity === "percent" ? "%" : "W"], min: 0, max: 1e9 };
  let reading: SignalReading = unheard;

  const readingOf = ({ payload, at, retained }: ReceivedMessage): SignalReading => {
    const number = numberIn(payload, path, limits);
    if (typeof number === "string") return { ...reading, problem: `${settings.topic} ${number}` };
    if (timestamp === undefined && retained)
      return { ...reading, problem: `${settings.topic} has a retained message whose age is not known` };
    const time = timestamp === undefined ? at : timeOf(valueIn(payload, timestamp));
    if (time === null) return { ...reading, problem: `${settings.topic} has no time at "${timestamp}" in its payload` };
    const ageMs = now() - time;
    if (ageMs < -aheadMs)
      return { ...reading, problem: `${settings.topic} has a time in the future; check both clocks` };
    const heard = monotonicNow() - Math.max(0, ageMs);
    // Messages may arrive in another order than they were sent in.
    if (reading.heard !== null && heard < reading.heard) return reading;
    return { wish: wishOf(number, settings), heard, value: number, problem: null, refused: null };
  };
  const stop = messages.listen(settings.topic, (message) => {
    reading = readingOf(message);
    changed();
  });
  return {
    get reading() {
      return reading;
    },
    turn: async () => undefined,
    close: stop,
  };
}

/** Epoch ms of a time in seconds or ms since 1970, or in ISO 8601; null for anything else. */
function timeOf(value: unknown): number | null {
  const number = typeof value === "string" && /^\d+(?:\.\d+)?$/.test(value) ? Number(value) : value;
  if (typeof number === "number") return Number.isFinite(number) ? (number < leastMs ? number * 1000 : number) : null;
  const time = typeof value === "string" && /(?:Z|[+-]\d\d:?\d\d)$/.test(value) ? Date.parse(value) : Number.NaN;
  return Number.isNaN(time) ? null : time;
}
