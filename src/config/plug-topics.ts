import { isRecord } from "../contract/record.ts";
import { isBelow, matches } from "../contract/topic.ts";

/** What `mqtt` says of the topics that are spoken for; what it leaves out is as usual. */
export interface OwnTopics {
  readonly base: string;
  /** Home Assistant's discovery prefix; as usual where `homeAssistant` is off, since somebody may listen there. */
  readonly prefix: string;
  readonly plugTopics: readonly string[];
}

const usual: OwnTopics = { base: "rigbridge", prefix: "homeassistant", plugTopics: [] };

/** From `mqtt` of the configuration, also as it was written, before anybody has checked it. */
export function ownTopics(mqtt: unknown): OwnTopics {
  const said = isRecord(mqtt) ? mqtt : {};
  const prefix = isRecord(said.homeAssistant) ? said.homeAssistant.prefix : undefined;
  return {
    base: typeof said.base === "string" ? said.base : usual.base,
    prefix: typeof prefix === "string" ? prefix : usual.prefix,
    plugTopics: Array.isArray(said.plugTopics)
      ? said.plugTopics.filter((each: unknown) => typeof each === "string")
      : usual.plugTopics,
  };
}

/** Why no plug may be switched at a topic, whoever asks; null when one may. There a message is a command to something else. */
export function reservedTopic(topic: string, { base, prefix }: OwnTopics): string | null {
  if (isBelow(topic, base)) return `is below mqtt.base (${base}), where Rigbridge takes commands itself`;
  if (isBelow(topic, prefix)) return `is below ${prefix}, where Home Assistant looks for devices`;
  return null;
}

/** The same for a plug that is declared over the API: it may be switched only where the owner of the file allows that. */
export function refusedTopic(topic: string, own: OwnTopics): string | null {
  const reserved = reservedTopic(topic, own);
  if (reserved !== null) return reserved;
  if (own.plugTopics.some((allowed) => matches(allowed, topic) || isBelow(topic, allowed))) return null;
  return "is not among mqtt.plugTopics of the configuration file, which lists where plugs may be switched over the API";
}
