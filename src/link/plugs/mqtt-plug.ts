import { sendDeadline } from "../../async/send-deadline.ts";
import { type Messages, needsMessages, type ReceivedMessage } from "../../contract/messages.ts";
import type { MqttPlugSettings } from "../../contract/plug-settings.ts";
import { RigbridgeError } from "../../contract/problems.ts";
import { detail } from "../../messages/detail.ts";
import { onIn } from "../on-words.ts";
import { numberIn, type Quantity, valueIn } from "../quantity.ts";
import type { Plug, PlugContext } from "./plug.ts";

/** Reports of a plug that are older are no longer trusted. */
const maxAgeMs = 600_000;
/** For a plug to report that it has switched. */
const switchTimeoutMs = 10_000;

interface Timed<T> {
  readonly value: T;
  /** Epoch ms. */
  readonly at: number;
}

/**
 * A plug that reports its state over MQTT and is switched by a message. A message on any of its topics within ten
 * minutes keeps its state valid, since many publish it only when it changes; a measurement must itself be that recent.
 */
export function mqttPlug({ topics, payloads }: MqttPlugSettings, context: PlugContext): Plug {
  const { messages, now, retainedTimeoutMs = 1_000 } = context;
  const closing = new AbortController();
  const opened = performance.now();
  let on: Timed<boolean> | null = null;
  let power: Timed<number> | null = null;
  let energy: Timed<number> | null = null;
  /** Called after each message with its state. */
  const waiting = new Set<() => void>();

  const subscribe = (
    topic: string | { readonly topic: string; readonly path?: string | undefined },
    take: Taker,
  ): void => {
    const { topic: name, path } = typeof topic === "string" ? { topic, path: undefined } : topic;
    closing.signal.addEventListener("abort", messages.listen(name, take(path)));
  };
  const number = (quantity: Quantity, keep: (timed: Timed<number>) => void): Taker => {
    return (path) =>
      ({ payload, at }) => {
        const value = numberIn(payload, path, quantity);
        if (typeof value === "number") keep({ value, at });
      };
  };

  subscribe(topics.state, (path) => ({ payload, at }) => {
    const value = stateIn(payload, path, payloads);
    if (value === null) return;
    on = { value, at };
    for (const check of waiting) check();
  });
  if (topics.power !== undefined)
    subscribe(
      topics.power,
      number(watts, (timed) => (power = timed)),
    );
  if (topics.energy !== undefined) {
    const isWh = typeof topics.energy === "object" && topics.energy.unit === "Wh";
    subscribe(
      topics.energy,
      number(isWh ? wattHours : kilowattHours, (timed) => (energy = isWh ? timed : inWh(timed))),
    );
  }

  /** Resolves with true once it reports such a state, with false when time is up. */
  const reports = (is: (on: boolean) => boolean, timeoutMs: number, signal: AbortSignal): Promise<boolean> =>
    new Promise((resolve) => {
      const late = AbortSignal.any([signal, closing.signal, AbortSignal.timeout(Math.max(0, Math.ceil(timeoutMs)))]);
      const check = (): void => {
        const done = on !== null && is(on.value);
        if (!done && !late.aborted) return;
        waiting.delete(check);
        resolve(done);
      };
      waiting.add(check);
      late.addEventListener("abort", check, { once: true });
      check();
    });
  const fresh = <T>(timed: Timed<T> | null): T | null =>
    timed !== null && now() - timed.at <= maxAgeMs ? timed.value : null;

  return {
    read: async (signal) => {
      requireBroker(messages);
      if (on === null) await reports(() => true, opened + retainedTimeoutMs - performance.now(), signal);
      const last = Math.max(...[on, power, energy].map((timed) => timed?.at ?? Number.NEGATIVE_INFINITY));
      if (on === null) throw silent(topics.state, "has not reported whether the plug is on");
      if (now() - last > maxAgeMs) throw silent(topics.state, "and the plug's other topics are silent for 10 minutes");
      return { on: on.value, power: fresh(power), energy: fresh(energy) };
    },
    switch: async (wanted, signal) => {
      requireBroker(messages);
      const mayNotSend = (): boolean => sendDeadline()?.isOver === true;
      if (mayNotSend()) throw new RigbridgeError("service.no.active", detail("command.noLease"));
      if (!messages.publish(topics.set, wanted ? payloads.on : payloads.off))
        throw new RigbridgeError("rig.unreachable", "there is no connection to the MQTT broker");
      if (await reports((is) => is === wanted, switchTimeoutMs, signal)) return;
      if (mayNotSend())
        throw new RigbridgeError(
          "rig.unconfirmed",
          `The plug may not have been switched at ${topics.set}, because this service no longer has the lease of its store`,
        );
      const word = wanted ? "on" : "off";
      throw new RigbridgeError(
        "rig.timeout",
        `The plug was switched ${word} at ${topics.set}, and ${nameOf(topics.state)} did not confirm it in time`,
      );
    },
    close: () => closing.abort(),
  };
}

type Taker = (path: string | undefined) => (message: ReceivedMessage) => void;

const watts: Quantity = { what: "a power", units: ["W"], min: -100_000, max: 10_000_000 };
const wattHours: Quantity = { what: "an energy", units: ["Wh"], min: 0, max: 1e13 };
const kilowattHours: Quantity = { what: "an energy", units: ["kWh"], min: 0, max: 1e10 };
const inWh = ({ value, at }: Timed<number>): Timed<number> => ({ value: value * 1000, at });

/** ON, on, true, 1 and their opposites, or the payloads that switch it; null for anything else. */
function stateIn(text: string, path: string | undefined, payloads: MqttPlugSettings["payloads"]): boolean | null {
  const value = valueIn(text, path);
  if (typeof value !== "string" && typeof value !== "boolean" && typeof value !== "number") return null;
  const state = String(value).trim();
  return state === payloads.on || state === payloads.off ? state === payloads.on : onIn(value);
}

const nameOf = (topic: MqttPlugSettings["topics"]["state"]): string =>
  typeof topic === "string" ? topic : topic.topic;

const silent = (state: MqttPlugSettings["topics"]["state"], what: string): RigbridgeError =>
  new RigbridgeError("rig.unreachable", `${nameOf(state)} ${what}`);

function requireBroker({ isConfigured }: Messages): void {
  if (!isConfigured) throw new RigbridgeError("rig.unreachable", `a plug of the type mqtt ${needsMessages}`);
}
