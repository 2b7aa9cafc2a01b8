import { z } from "zod";

/** Where the newest version is asked for; without it, nothing is. */
export const UpdateSettings = z.strictObject({
  url: z
    .url({ protocol: /^https?$/, error: "must be an http or https address" })
    .describe(
      "address that answers with JSON whose version or tag_name is the newest version, such as a package registry; asked once a day",
    ),
});
export type UpdateSettings = z.infer<typeof UpdateSettings>;
