import { z } from "zod";
import { type ConfigKind, count, optional, type Raw, readConfig, required } from "../shared/config.ts";

const url = z
  .string()
  .trim()
  .transform((text) => (text === "" || /^[a-z]+:\/\//i.test(text) ? text : `http://${text}`))
  .pipe(
    z
      .string()
      .min(1, "required")
      .refine((text) => /^https?:\/\/[^/\s${}]+/i.test(text) && URL.canParse(text), "url"),
  );

const locale = optional.refine((text) => text === "" || isLocale(text), "locale");

/** A rig of a service inside Node-RED. */
const Rig = z.object({ address: required, name: optional, group: optional });

const Elsewhere = z.object({
  mode: z.literal("elsewhere"),
  url,
  user: optional,
  locale,
  /** s between two looks at a server that does not tell by itself what changes. */
  poll: count(1, 3600, 15),
});

const Inside = z.object({
  mode: z.literal("inside"),
  locale,
  rigs: z.array(Rig).max(1000, "too-many").default([]),
  /** s between two reads of a rig. */
  interval: count(1, 3600, 10),
  /** Looks for rigs in the network, and adds what it finds. */
  scan: z.boolean().default(false),
  /** Like 192.168.1.0/24, several with commas; empty = the machine's own. */
  networks: optional,
});
export type InsideSettings = z.infer<typeof Inside>;

export const ServiceSettings = z.discriminatedUnion("mode", [Elsewhere, Inside]);
export type ServiceSettings = z.infer<typeof ServiceSettings>;

/** Node-RED puts in place of a variable what it is, where it is set. */
const secret = optional.refine((text) => !/^\$\{\S+\}$/.test(text), "required");

/** Kept where Node-RED keeps secrets, never in the flow. */
export const Secrets = z.object({
  /** The service's API key. */
  key: secret,
  /** What rigs inside Node-RED are logged in to with. */
  username: secret,
  password: secret,
  token: secret,
});
export type Secrets = z.infer<typeof Secrets>;

/** Throws a Fault that names the field, and a variable that is not set. */
export const readSecrets = (raw: Raw): Secrets => readConfig({ version: 1, migrations: [], schema: Secrets }, raw);

export const serviceConfig: ConfigKind<ServiceSettings> = { version: 1, migrations: [], schema: ServiceSettings };

function isLocale(text: string): boolean {
  try {
    return Intl.NumberFormat.supportedLocalesOf(text).length > 0;
  } catch {
    return false;
  }
}
