import { z } from "zod";
import { ChannelSettings } from "../contract/channels.ts";
import { secret } from "../contract/secrets.ts";
import { Key } from "../contract/steps.ts";

/** Notification channels, and incoming web hooks. */
export const mostChannels = 50;
export const Channels: z.ZodType<ChannelSettings[]> = z.array(ChannelSettings).max(mostChannels).default([]);

export const HookSettings = z.strictObject({
  name: Key.describe("name of the web hook, at the end of its address POST /api/hooks/{name}; names are unique"),
  secret: secret(
    z
      .string({ error: "is missing: the secret that callers send in the header X-Hook-Secret" })
      .min(16, "needs at least 16 characters")
      .max(200)
      .regex(/^[\x21-\x7e]+$/, "must be printable ASCII without spaces")
      .describe("secret that callers send in the header X-Hook-Secret; kept secret"),
  ),
});
export type HookSettings = z.output<typeof HookSettings>;
