import { urlsIn } from "rigbridge";
import { z } from "zod";
import { type ConfigKind, count, optional, type Raw, readConfig, required } from "../shared/config.ts";

/** One address, or several separated by commas. */
const url = z
  .string()
  .transform((text) => urlsIn(text).map((each) => (/^[a-z]+:\/\//i.test(each) ? each : `http://${each}`)))
  .pipe(z.array(z.string()).min(1, "required"))
  .refine((urls) => urls.every((each) => /^https?:\/\/[^/\s${}]+/i.test(each) && URL.canParse(each)), "url");

const locale = optional.refine((text) => text === "" || isLocale(text), "locale");

/** The most rigs of a service inside Node-RED. */
export const maxRigs = 1000;

/** A rig of a service inside Node-RED. `login`: the number in the names of its credentials, like `password_3`. */
const Rig = z.object({
  address: required,
  name: optional,
  group: optional,
  login: z.int().min(1).max(maxRigs).optional(),
});
export type RigSettings = z.infer<typeof Rig>;

const Elsewhere = z.object({
  mode: z.literal("elsewhere"),
  url,
  user: optional,
  locale,
  /** s between polls of a server that does not push changes. */
  poll: count(1, 3600, 15),
});

const Inside = z.object({
  mode: z.literal("inside"),
  locale,
  rigs: z.array(Rig).max(maxRigs, "too-many").default([]),
  /** s between reads of a rig. */
  interval: count(1, 3600, 10),
  /** Searches the network for rigs and adds them. */
  scan: z.boolean().default(false),
  /** Like 192.168.1.0/24, several with commas; empty = the machine's networks. */
  networks: optional,
});
export type InsideSettings = z.infer<typeof Inside>;

export const ServiceSettings = z.discriminatedUnion("mode", [Elsewhere, Inside]);
export type ServiceSettings = z.infer<typeof ServiceSettings>;

/** Node-RED replaces a variable only if it is set. */
const secret = optional.refine((text) => !/^\$\{\S+\}$/.test(text), "required");

/** What a rig may ask for. */
const loginNames = ["username", "password", "token"] as const;

/** Stored with Node-RED's credentials, never in the flow. Those of single rigs have a number after the name. */
export const Secrets = z
  .object({
    /** The service's API key. */
    key: secret,
    /** The login for rigs of a service inside Node-RED without their own. */
    username: secret,
    password: secret,
    token: secret,
  })
  .catchall(secret);
export type Secrets = z.infer<typeof Secrets>;

/** The rig's own login if it has one, even a part of one; otherwise that of all rigs. */
export function loginOf({ login }: RigSettings, secrets: Secrets): Record<string, string> {
  const given = (suffix: string) =>
    loginNames.map((name) => [name, secrets[`${name}${suffix}`] ?? ""]).filter(([, value]) => value !== "");
  const own = login === undefined ? [] : given(`_${login}`);
  return Object.fromEntries(own.length > 0 ? own : given(""));
}

/** In the form that Node-RED requires. */
export const credentialTypes = {
  key: { type: "password" },
  ...Object.fromEntries(
    ["", ...Array.from({ length: maxRigs }, (_, index) => `_${index + 1}`)].flatMap((suffix) =>
      loginNames.map((name) => [`${name}${suffix}`, { type: name === "username" ? "text" : "password" }] as const),
    ),
  ),
} as const;

/** Throws a Fault that names the field, and the variable if it is not set. */
export const readSecrets = (raw: Raw): Secrets => readConfig({ version: 1, migrations: [], schema: Secrets }, raw);

export const serviceConfig: ConfigKind<ServiceSettings> = { version: 1, migrations: [], schema: ServiceSettings };

function isLocale(text: string): boolean {
  try {
    return Intl.NumberFormat.supportedLocalesOf(text).length > 0;
  } catch {
    return false;
  }
}
