import { z } from "zod";
import { asked } from "./form-kind.ts";

/** An MQTT topic to publish to. */
export const Topic = asked(
  "line",
  z
    .string()
    .min(1)
    .max(500)
    // biome-ignore lint/suspicious/noControlCharactersInRegex: they are what is refused
    .regex(/^[^+#\u0000-\u001f\u007f-\u009f]*$/, "must be one topic, without + and #")
    .refine((topic) => !topic.startsWith("$"), "must not begin with $: such topics are reserved for the broker"),
);

/** A topic filter: `+` matches one level, a final `#` everything below (MQTT 5, 4.7). */
export const TopicFilter = asked(
  "line",
  z
    .string()
    .min(1)
    .max(500)
    .regex(
      /^(?:\+|[^+#\p{Cc}/]*)(?:\/(?:\+|[^+#\p{Cc}/]*))*(?:\/#)?$|^#$/u,
      "must be a topic, with + or # as whole levels",
    )
    .refine((filter) => !filter.startsWith("$"), "must not begin with $: such topics are reserved for the broker"),
);

/** Whether a filter matches a topic (MQTT 5, 4.7). Every message passes through here, so it makes no lists of levels. */
export function matches(filter: string, topic: string): boolean {
  if (topic.startsWith("$") && !filter.startsWith("$")) return false;
  let at = 0;
  for (let index = 0; index < filter.length; index += 1) {
    const wanted = filter[index];
    if (wanted === "#") return true;
    if (wanted === "+") {
      const end = topic.indexOf("/", at);
      at = end === -1 ? topic.length : end;
    } else if (wanted === topic[at]) at += 1;
    // What is above a final # matches too.
    else return at === topic.length && filter.endsWith("/#") && index === filter.length - 2;
  }
  return at === topic.length;
}

/** Whether a topic equals these levels or is below them. */
export const isBelow = (topic: string, levels: string): boolean => topic === levels || topic.startsWith(`${levels}/`);

/** The path of a value in a JSON document. */
export const JsonPath = asked(
  "line",
  z
    .string()
    .regex(/^[^.]+(\.[^.]+)*$/, "must be names and list positions separated by dots, like sensors.0.value")
    .max(500),
);
