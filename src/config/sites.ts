import { z } from "zod";
import { Line } from "../contract/inputs.ts";
import { everySite, hereName } from "../contract/runs-at.ts";
import { secret } from "../contract/secrets.ts";

const Url = z
  .url({ protocol: /^https?$/, error: "must be an http or https address" })
  .refine((text) => !URL.canParse(text) || new URL(text).username === "", "must not contain credentials; use key");

/** Another service whose rigs this one shows. Groups are shown as `Site / Group`, hence no slash in the name. */
export const SiteSettings = z
  .strictObject({
    name: Line(60)
      .min(1)
      .regex(/^[^/]*$/, "must not contain a slash")
      .refine((name) => name !== hereName && name !== everySite, "must not be here or all, which runsAt uses")
      .describe("name of the site; its number belongs to this name"),
    url: Url.optional().describe("address of its service, such as https://cabin.example:17790"),
    urls: z.array(Url).min(1).max(10).optional().describe("or several of one service: the first that answers is used"),
    locale: z
      .string()
      .max(40)
      .optional()
      .describe("number format of a service that is not Rigbridge, such as sv-SE; default: en-US"),
    key: secret(z.string().min(1).max(1_000).optional()).describe(
      "API key there; it limits what can be done from here",
    ),
  })
  .refine(({ url, urls }) => (url === undefined) !== (urls === undefined), "needs either url or urls");
export type SiteSettings = z.infer<typeof SiteSettings>;

/** Config key `sites`. */
export const Sites = z
  .array(SiteSettings)
  .max(200)
  .default([])
  .describe("other services whose rigs are shown and controlled here");
