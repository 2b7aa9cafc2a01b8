import { z } from "zod";

/** One topic of an MQTT broker, as something is published to it. */
export const Topic = z
  .string()
  .min(1)
  .max(500)
  // biome-ignore lint/suspicious/noControlCharactersInRegex: they are what is refused
  .regex(/^[^+#\u0000-\u001f\u007f-\u009f]*$/, "must be one topic, without + and #")
  .refine((topic) => !topic.startsWith("$"), "must not begin with $: a broker keeps such topics for itself");

/** Several topics: `+` is any one level, `#` at the end everything below (MQTT 5, 4.7). */
export const TopicFilter = z
  .string()
  .min(1)
  .max(500)
  .regex(
    /^(?:\+|[^+#\p{Cc}/]*)(?:\/(?:\+|[^+#\p{Cc}/]*))*(?:\/#)?$|^#$/u,
    "must be a topic, with + or # as whole levels",
  )
  .refine((filter) => !filter.startsWith("$"), "must not begin with $: a broker keeps such topics for itself");

/** Whether a topic is one of those that a filter stands for (MQTT 5, 4.7): `+` is one level, `#` at the end all below. */
export function matches(filter: string, topic: string): boolean {
  if (topic.startsWith("$") && !filter.startsWith("$")) return false;
  const wanted = filter.split("/");
  const levels = topic.split("/");
  for (const [index, level] of wanted.entries()) {
    if (level === "#") return true;
    if (index >= levels.length || (level !== "+" && level !== levels[index])) return false;
  }
  return wanted.length === levels.length;
}

/** Whether a topic has these first levels, or is them. */
export const isBelow = (topic: string, levels: string): boolean => topic === levels || topic.startsWith(`${levels}/`);

/** Where in a JSON document a value stands. */
export const JsonPath = z
  .string()
  .regex(/^[^.]+(\.[^.]+)*$/, "must be names and places in lists with dots between, like sensors.0.value")
  .max(500);
