import { z } from "zod";
import { CoinName, Line, minerFields, PoolUrl } from "../contract/inputs.ts";
import { Uid } from "../contract/resources.ts";

/**
 * The configuration, as in `additions` of the API ("Config keys"). Every key may be left out; a key that this version
 * cannot serve yet is refused, so that nobody waits for what will not happen.
 */
const name = Line(200).min(1);
const key = z
  .string()
  .min(16, "needs at least 16 characters")
  .max(200)
  .regex(/^[\x21-\x7e]+$/, "printable ASCII without spaces");
const notYet = (what: string) => z.undefined(`is not there yet in this version (${what}); remove it`).optional();

const knownLocale = (locale: string): boolean => {
  try {
    return Intl.NumberFormat.supportedLocalesOf(locale).length > 0;
  } catch {
    return false;
  }
};
const knownTimeZone = (timeZone: string): boolean => {
  try {
    return new Intl.DateTimeFormat("en", { timeZone }) !== undefined;
  } catch {
    return false;
  }
};
const origin = z.string().refine((text) => URL.canParse(text) && new URL(text).origin === text, {
  message: "must be an origin like https://panel.example",
});

export const HttpSettings = z.strictObject({
  host: z.string().min(1).max(253).default("127.0.0.1").describe("address to listen on"),
  port: z.int().min(0).max(65535).default(17790),
  key: key.optional().describe("the API key; without it only loopback is served"),
  origins: z.array(origin).default([]).describe("web origins that may call from a browser (CORS)"),
  hosts: z.array(z.string().min(1).max(253)).default([]).describe("further host names under which it is reached"),
  trustedProxies: z.array(z.union([z.ipv4(), z.ipv6(), z.cidrv4(), z.cidrv6()])).default([]),
  open: z.boolean().default(false).describe("allow other addresses without a key"),
  keylessRead: z.boolean().default(false).describe("GETs from private addresses need no key"),
});
export type HttpSettings = z.infer<typeof HttpSettings>;

export const DisplaySettings = z.strictObject({
  locale: z.string().refine(knownLocale, "is no known locale, like en-US or sv-SE").default("en-US"),
  currency: z
    .string()
    .regex(/^[A-Z]{3}$/, "must be a currency code like USD")
    .default("USD"),
  timeZone: z.string().refine(knownTimeZone, "is no known time zone, like Europe/Stockholm").optional(),
});
export type DisplaySettings = z.infer<typeof DisplaySettings>;

export const MinerSettings = z.strictObject({
  address: z.string().min(1).max(300).describe("host, host:port or http(s)://host:port"),
  uid: Uid.optional(),
  group: name.optional(),
  powerNameplate: z.number().min(0).max(100_000).optional().describe("W, where the rig reports no power"),
  ...minerFields,
  supply: notYet("the rig's plug and meter"),
});
export type MinerSettings = z.infer<typeof MinerSettings>;

export interface GroupSettings {
  name: string;
  groups?: GroupSettings[] | undefined;
}
export const GroupSettings: z.ZodType<GroupSettings> = z.strictObject({
  name,
  get groups() {
    return z.array(GroupSettings).optional();
  },
});

export const PoolSettings = z.strictObject({
  name: name.describe("its description; names are unique"),
  url: PoolUrl,
  worker: Line(256).default(""),
  wallet: Line(256).default(""),
  password: Line(256).default(""),
  coin: z
    .union([CoinName, z.literal("")])
    .default("")
    .describe("short name of the coin"),
  algorithm: z.string().max(64).default(""),
});
export type PoolSettings = z.infer<typeof PoolSettings>;

export const PoolGroupSettings = z.strictObject({ name, pools: z.array(name).describe("names of pools") });

export const CoinSettings = z.strictObject({
  shortName: CoinName,
  name: Line(100).min(1),
  algorithm: z.string().min(1).max(64),
  profit: z.number().min(0).optional().describe("BTC per MH/s per day"),
});

export const AlgorithmSettings = z.strictObject({
  id: z
    .string()
    .regex(/^[a-z0-9-]{1,64}$/, "a-z, 0-9 and -")
    .describe("as miners and coins name it"),
  name: Line(100).min(1),
  hashesPerDifficulty: z.number().positive().describe("hashes per unit of difficulty"),
});

export const UserSettings = z.strictObject({
  name,
  key: key.optional(),
  privilege: z.enum(["administrator", "control", "view"]).default("view"),
  groups: z.array(name).optional().describe("what the user sees; absent = all"),
  pools: z.array(name).optional(),
});

export const Config = z.strictObject({
  http: HttpSettings.prefault({}),
  store: z
    .strictObject({
      url: z.string().min(1).max(1000).default("rigbridge.db").describe("the SQLite file, beside the configuration"),
    })
    .prefault({}),
  display: DisplaySettings.prefault({}),
  poll: z
    .strictObject({
      interval: z.number().min(1).max(3600).default(10).describe("seconds between two reads of a rig"),
      timeout: z.number().min(0.5).max(60).default(5).describe("seconds that one read may take"),
    })
    .prefault({}),
  miners: z.array(MinerSettings).max(100_000).default([]),
  groups: z.array(GroupSettings).default([]),
  pools: z.array(PoolSettings).default([]),
  poolGroups: z.array(PoolGroupSettings).default([]),
  templates: z.array(z.strictObject({ name })).default([]),
  algorithms: z.array(AlgorithmSettings).default([]),
  coins: z.array(CoinSettings).default([]),
  rules: z.array(z.strictObject({ name })).default([]).describe("manual rules, by name; running them is not there yet"),
  users: z.array(UserSettings).default([]),
  rates: z
    .strictObject({ btc: z.number().positive().optional() })
    .prefault({})
    .describe("money per BTC in the display currency"),
  electricity: z
    .strictObject({ price: z.number().min(0).optional() })
    .prefault({})
    .describe("money per kWh in the display currency"),
  scan: notYet("discovery"),
  mqtt: notYet("the MQTT bridge"),
  history: z
    .strictObject({
      raw: z.number().min(0.1).max(60).default(2).describe("days that every sample is kept"),
      hourly: z.number().min(1).max(7300).default(730).describe("days that hourly means are kept"),
    })
    .prefault({}),
});
export type Config = z.infer<typeof Config>;
