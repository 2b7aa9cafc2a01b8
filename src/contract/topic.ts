import { z } from "zod";

/** One topic of an MQTT broker, as something is published to it. */
export const Topic = z
  .string()
  .min(1)
  .max(500)
  // biome-ignore lint/suspicious/noControlCharactersInRegex: they are what is refused
  .regex(/^[^+#\u0000-\u001f\u007f-\u009f]*$/, "must be one topic, without + and #")
  .refine((topic) => !topic.startsWith("$"), "must not begin with $: a broker keeps such topics for itself");

/** Where in a JSON document a value stands. */
export const JsonPath = z
  .string()
  .regex(/^[^.]+(\.[^.]+)*$/, "must be names and places in lists with dots between, like sensors.0.value")
  .max(500);
