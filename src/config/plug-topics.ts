import { isRecord } from "../contract/record.ts";
import { isBelow, matches } from "../contract/topic.ts";

/** The topics that `mqtt` reserves; absent settings have their defaults. */
export interface OwnTopics {
  readonly base: string;
  /** Home Assistant's discovery prefix; the default where `homeAssistant` is off, since others may use it. */
  readonly prefix: string;
  readonly plugTopics: readonly string[];
}

const defaults: OwnTopics = { base: "rigbridge", prefix: "homeassistant", plugTopics: [] };

/** From `mqtt` of the configuration, which may not have been validated. */
export function ownTopics(mqtt: unknown): OwnTopics {
  const settings = isRecord(mqtt) ? mqtt : {};
  const prefix = isRecord(settings.homeAssistant) ? settings.homeAssistant.prefix : undefined;
  return {
    base: typeof settings.base === "string" ? settings.base : defaults.base,
    prefix: typeof prefix === "string" ? prefix : defaults.prefix,
    plugTopics: Array.isArray(settings.plugTopics)
      ? settings.plugTopics.filter((each: unknown) => typeof each === "string")
      : defaults.plugTopics,
  };
}

/** Why a plug must not be switched at a topic, which is reserved for other commands; null if it may. */
export function reservedTopic(topic: string, { base, prefix }: OwnTopics): string | null {
  if (isBelow(topic, base)) return `is below mqtt.base (${base}), where Rigbridge itself accepts commands`;
  if (isBelow(topic, prefix)) return `is below ${prefix}, where Home Assistant discovers devices`;
  return null;
}

/**
 * Like `reservedTopic`, for a plug declared over the API, which may be switched only at topics that the configuration
 * allows.
 */
export function refusedTopic(topic: string, own: OwnTopics): string | null {
  const reserved = reservedTopic(topic, own);
  if (reserved !== null) return reserved;
  if (own.plugTopics.some((allowed) => matches(allowed, topic) || isBelow(topic, allowed))) return null;
  return "is not allowed for plugs declared over the API; add it to mqtt.plugTopics in the configuration file";
}
