import { z } from "zod";
import { Line } from "../contract/inputs.ts";
import { everySite, hereName } from "../contract/runs-at.ts";
import { secret } from "../contract/secrets.ts";
import { isUnprotected } from "./unprotected.ts";

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
    connectsOut: z
      .boolean()
      .default(false)
      .describe("the site is behind a router and connects to here; its token is made on the page Sites"),
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
  .superRefine(({ url, urls, connectsOut, ...others }, context) => {
    const ways = [url, urls, connectsOut || undefined].filter((each) => each !== undefined);
    if (ways.length !== 1) context.addIssue({ code: "custom", message: "needs one of url, urls and connectsOut" });
    for (const key of ["key", "locale"] as const)
      if (connectsOut && others[key] !== undefined)
        context.addIssue({ code: "custom", path: [key], message: "has no meaning with connectsOut" });
  });
export type SiteSettings = z.infer<typeof SiteSettings>;

/** Config key `centre`: the centre that this service connects to, so that it is a site there. */
export const CentreSettings = z
  .strictObject({
    url: Url.describe("address of the centre, such as https://head-office.example:17790"),
    token: secret(z.string().regex(/^[\x21-\x7e]{16,200}$/, "must be a token from the centre's page Sites")).describe(
      "token of this site, from the centre's page Sites",
    ),
    privilege: z
      .enum(["administrator", "control", "view"])
      .default("control")
      .describe("the most that the centre and its users may do here"),
    ca: z
      .string()
      .min(1)
      .max(1_000)
      .optional()
      .describe("file with the certificate of the CA that signed the centre's"),
    insecure: z
      .boolean()
      .default(false)
      .describe("send the token unencrypted outside private networks, and accept any certificate"),
  })
  .refine(({ url, insecure }) => insecure || !URL.canParse(url) || !isUnprotected(new URL(url)), {
    path: ["url"],
    error:
      "must begin with https:// outside this machine's private networks; insecure would send the token unencrypted",
  });
export type CentreSettings = z.infer<typeof CentreSettings>;

/** Config key `sites`. */
export const Sites = z
  .array(SiteSettings)
  .max(200)
  .default([])
  .describe("other services whose rigs are shown and controlled here");
