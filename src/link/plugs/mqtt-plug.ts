import { needsMessages, type ReceivedMessage } from "../../contract/messages.ts";
import type { MqttPlugSettings } from "../../contract/plug-settings.ts";
import { RigbridgeError } from "../../contract/problems.ts";
import { numberIn, type Quantity, valueIn } from "../quantity.ts";
import type { Plug, PlugContext } from "./plug.ts";

/** ms after which what a plug has said is not true any more for sure. */
const oldAfter = 600_000;
/** ms that a plug has to say that it has switched. */
const answersWithin = 10_000;
/** ms that the first read waits for what a broker has kept. */
const firstWithin = 1_000;

interface Said<T> {
  readonly value: T;
  /** Epoch ms. */
  readonly at: number;
}

/**
 * A plug that says how it is by messages, and is switched by one. It counts as read while anything of it was heard in
 * the last ten minutes: many say that they are on only when that changes. What it measures must itself be as new.
 */
export function mqttPlug({ topics, payloads }: MqttPlugSettings, { messages, now }: PlugContext): Plug {
  if (messages === null) return unheard;
  const closing = new AbortController();
  const opened = performance.now();
  let on: Said<boolean> | null = null;
  let power: Said<number> | null = null;
  let energy: Said<number> | null = null;
  /** Called after each message that says whether it is on. */
  const waiting = new Set<() => void>();

  const hear = (topic: string | { readonly topic: string; readonly path?: string | undefined }, take: Taker): void => {
    const { topic: name, path } = typeof topic === "string" ? { topic, path: undefined } : topic;
    closing.signal.addEventListener("abort", messages.listen(name, take(path)));
  };
  const number = (quantity: Quantity, keep: (said: Said<number>) => void): Taker => {
    return (path) =>
      ({ payload, at }) => {
        const value = numberIn(payload, path, quantity);
        if (typeof value === "number") keep({ value, at });
      };
  };

  hear(topics.state, (path) => ({ payload, at }) => {
    const value = stateIn(payload, path, payloads);
    if (value === null) return;
    on = { value, at };
    for (const look of waiting) look();
  });
  if (topics.power !== undefined)
    hear(
      topics.power,
      number(watts, (said) => (power = said)),
    );
  if (topics.energy !== undefined) {
    const isWh = typeof topics.energy === "object" && topics.energy.unit === "Wh";
    hear(
      topics.energy,
      number(isWh ? wattHours : kilowattHours, (said) => (energy = isWh ? said : inWh(said))),
    );
  }

  /** Resolves with true once it says so, with false when that took too long. */
  const says = (is: (on: boolean) => boolean, within: number, signal: AbortSignal): Promise<boolean> =>
    new Promise((resolve) => {
      const late = AbortSignal.any([signal, closing.signal, AbortSignal.timeout(Math.max(0, Math.ceil(within)))]);
      const look = (): void => {
        const done = on !== null && is(on.value);
        if (!done && !late.aborted) return;
        waiting.delete(look);
        resolve(done);
      };
      waiting.add(look);
      late.addEventListener("abort", look, { once: true });
      look();
    });
  const fresh = <T>(said: Said<T> | null): T | null =>
    said !== null && now() - said.at <= oldAfter ? said.value : null;

  return {
    read: async (signal) => {
      if (on === null) await says(() => true, opened + firstWithin - performance.now(), signal);
      const last = Math.max(...[on, power, energy].map((said) => said?.at ?? Number.NEGATIVE_INFINITY));
      if (on === null) throw silent(topics.state, "has not said whether the plug is on");
      if (now() - last > oldAfter) throw silent(topics.state, "and the plug's other topics are silent for 10 minutes");
      return { on: on.value, power: fresh(power), energy: fresh(energy) };
    },
    switch: async (wanted, signal) => {
      if (!messages.publish(topics.set, wanted ? payloads.on : payloads.off))
        throw new RigbridgeError("rig.unreachable", "there is no connection to the MQTT broker");
      if (await says((is) => is === wanted, answersWithin, signal)) return;
      const word = wanted ? "on" : "off";
      throw new RigbridgeError(
        "rig.timeout",
        `The plug was told at ${topics.set} to switch ${word}, and ${nameOf(topics.state)} does not say that it has`,
      );
    },
    close: () => closing.abort(),
  };
}

type Taker = (path: string | undefined) => (message: ReceivedMessage) => void;

const watts: Quantity = { what: "a power", units: ["W"], min: -100_000, max: 10_000_000 };
const wattHours: Quantity = { what: "an energy", units: ["Wh"], min: 0, max: 1e13 };
const kilowattHours: Quantity = { what: "an energy", units: ["kWh"], min: 0, max: 1e10 };
const inWh = ({ value, at }: Said<number>): Said<number> => ({ value: value * 1000, at });

const words: Readonly<Record<string, boolean>> = {
  on: true,
  true: true,
  1: true,
  off: false,
  false: false,
  0: false,
};

/** ON, on, true, 1 and their opposites, or the words that it is told with; null for anything else. */
function stateIn(text: string, path: string | undefined, payloads: MqttPlugSettings["payloads"]): boolean | null {
  const value = valueIn(text, path);
  if (typeof value !== "string" && typeof value !== "boolean" && typeof value !== "number") return null;
  const said = String(value).trim();
  if (said === payloads.on || said === payloads.off) return said === payloads.on;
  const word = said.toLowerCase();
  return Object.hasOwn(words, word) ? (words[word] ?? null) : null;
}

const nameOf = (said: MqttPlugSettings["topics"]["state"]): string => (typeof said === "string" ? said : said.topic);

const silent = (state: MqttPlugSettings["topics"]["state"], what: string): RigbridgeError =>
  new RigbridgeError("rig.unreachable", `${nameOf(state)} ${what}`);

const refuse = async (): Promise<never> => {
  throw new RigbridgeError("rig.unreachable", `a plug of the type mqtt ${needsMessages}`);
};
const unheard: Plug = { read: refuse, switch: refuse, close: () => undefined };
