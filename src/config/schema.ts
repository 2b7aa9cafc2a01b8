import { z } from "zod";
import { CoinName, Line, minerFields, PoolUrl, UserName } from "../contract/inputs.ts";
import { PlugSettings } from "../contract/plug-settings.ts";
import { Uid } from "../contract/resources.ts";
import { secret } from "../contract/secrets.ts";
import { drivers } from "../link/drivers/index.ts";
import { Follows, Heatings } from "./loops.ts";
import { MqttSettings } from "./mqtt.ts";

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
const seconds = z.number().min(0).max(86_400);

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
  port: z.int().min(0).max(65535).default(17790).describe("port to listen on; 0 = any free one"),
  key: secret(key.optional()).describe("the API key; without it only loopback is served"),
  origins: z.array(origin).default([]).describe("web origins that may call from a browser (CORS)"),
  hosts: z.array(z.string().min(1).max(253)).default([]).describe("further host names under which it is reached"),
  trustedProxies: z
    .array(z.union([z.ipv4(), z.ipv6(), z.cidrv4(), z.cidrv6()], "must be an IP address or a range like 10.0.0.0/8"))
    .default([])
    .describe("proxies whose X-Forwarded-For is believed"),
  open: z.boolean().default(false).describe("allow other addresses without a key"),
  keylessRead: z
    .boolean()
    .default(false)
    .describe("private addresses may look without a key, as a user with the privilege view"),
  announce: z
    .boolean()
    .default(true)
    .describe("tell the network of this service by mDNS, where it listens beyond loopback"),
});
export type HttpSettings = z.infer<typeof HttpSettings>;

export const DisplaySettings = z.strictObject({
  locale: z
    .string()
    .refine(knownLocale, "is no known locale, like en-US or sv-SE")
    .default("en-US")
    .describe("how numbers and dates are written, like en-US or sv-SE"),
  currency: z
    .string()
    .regex(/^[A-Z]{3}$/, "must be a currency code like USD")
    .default("USD")
    .describe("currency code like USD"),
  timeZone: z
    .string()
    .refine(knownTimeZone, "is no known time zone, like Europe/Stockholm")
    .optional()
    .describe("like Europe/Stockholm; absent = the machine's"),
  groups: z
    .enum(["nested", "flat"])
    .default("nested")
    .describe("groups inside groups in the list of miners: nested, or flat, side by side as in Hall / Row 1"),
});
export type DisplaySettings = z.infer<typeof DisplaySettings>;

const minOn = seconds.describe("seconds that a rig mines before its power target may stop it again");
const minOff = seconds.describe("seconds that a rig stands before its power target may start it again");
const changesPerHour = z
  .int()
  .min(1)
  .max(3600)
  .describe("changes by its power target that last or restart the mining; a fast throttle is not counted");

export const MinerSettings = z.strictObject({
  address: z.string().min(1).max(300).describe("host, host:port or http(s)://host:port"),
  uid: Uid.optional().describe("its uid, where the rig shows neither MAC nor serial"),
  group: name.optional().describe("name of a group in groups"),
  powerNameplate: z.number().min(0).max(100_000).optional().describe("W, where the rig reports no power"),
  ...minerFields,
  name: minerFields.name.describe("what it is called"),
  driver: z
    .enum(drivers.map(({ id }) => id))
    .optional()
    .describe("only this driver is tried; absent = recognise"),
  username: minerFields.username.describe("for the rig's own login"),
  password: minerFields.password.describe("for the rig's own login"),
  token: minerFields.token.describe("the rig's access token, as XMRig has it"),
  location: minerFields.location.unwrap().strict().optional().describe("where it stands"),
  tags: minerFields.tags.describe("words to find it by"),
  supply: PlugSettings.optional().describe("the plug that it draws its power through"),
  power: z
    .strictObject({ minOn: minOn.optional(), minOff: minOff.optional(), changesPerHour: changesPerHour.optional() })
    .optional()
    .describe("what this rig is spared, where it differs from power"),
});
export type MinerSettings = z.infer<typeof MinerSettings>;

export interface GroupSettings {
  name: string;
  groups?: GroupSettings[] | undefined;
}
export const GroupSettings: z.ZodType<GroupSettings> = z.strictObject({
  name,
  get groups() {
    return z.array(GroupSettings).optional().describe("groups inside this one");
  },
});

export const PoolSettings = z.strictObject({
  name: name.describe("its description; names are unique"),
  url: PoolUrl.describe("like stratum+tcp://pool.example:3333"),
  worker: Line(256).default("").describe("worker or account name"),
  wallet: Line(256).default("").describe("wallet address, for pools that take one"),
  password: secret(Line(256).default("")).describe("what the pool takes as password, often x"),
  coin: z
    .union([CoinName, z.literal("")], "1 to 32 of A-Z, a-z, 0-9, dot, underscore, hyphen")
    .default("")
    .describe("short name of the coin"),
  algorithm: z.string().max(64).default("").describe("id of the algorithm"),
});
export type PoolSettings = z.infer<typeof PoolSettings>;

export const PoolGroupSettings = z.strictObject({
  name,
  pools: z.array(name).describe("names of pools, the first is tried first"),
});

export const CoinSettings = z.strictObject({
  shortName: CoinName.describe("like BTC"),
  name: Line(100).min(1),
  algorithm: z.string().min(1).max(64).describe("id of the algorithm"),
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
  name: UserName,
  key: secret(key.optional()).describe("the user's own API key, which makes a request theirs"),
  privilege: z.enum(["administrator", "control", "view"]).default("view").describe("what the user may do"),
  groups: z.array(name).optional().describe("what the user sees; absent = all"),
  pools: z.array(name).optional().describe("pools that the user sees; absent = all"),
});

export const ScanSettings = z.strictObject({
  networks: z
    .array(z.string().min(1).max(60))
    .min(1)
    .max(64)
    .optional()
    .describe("like 192.168.1.0/24, or 192.168.1.0/24:8080 for one more port; absent = the machine's own"),
  every: z
    .number()
    .min(60)
    .max(604_800)
    .optional()
    .describe("seconds between two searches, the first at the start; absent = only when asked"),
  add: z
    .enum(["ask", "auto"])
    .default("ask")
    .describe("what becomes of a rig found by itself: ask = a notification, auto = it is added"),
});

export const Config = z.strictObject({
  http: HttpSettings.prefault({}).describe("the API server"),
  store: z
    .strictObject({
      url: z
        .string()
        .min(1)
        .max(1000)
        .default("rigbridge.db")
        .describe('the SQLite file, beside the configuration; ":memory:" keeps nothing'),
    })
    .prefault({})
    .describe("where settings, ids and history are kept"),
  display: DisplaySettings.prefault({}).describe("how figures are written for people"),
  poll: z
    .strictObject({
      interval: z.number().min(1).max(3600).default(10).describe("seconds between two reads of a rig"),
      timeout: z.number().min(0.5).max(60).default(5).describe("seconds that one read may take"),
      makersLogins: z
        .boolean()
        .default(false)
        .describe("try the login that a maker gives all its rigs, where none is given"),
    })
    .prefault({})
    .describe("how often rigs are read"),
  power: z
    .strictObject({
      minOn: minOn.default(300),
      minOff: minOff.default(300),
      changesPerHour: changesPerHour.default(6),
    })
    .prefault({})
    .describe("what rigs are spared when their power follows something"),
  miners: z.array(MinerSettings).max(100_000).default([]).describe("rigs that this file declares"),
  groups: z.array(GroupSettings).default([]).describe("groups of miners, which may hold groups"),
  pools: z.array(PoolSettings).default([]).describe("pools that miners can be given"),
  poolGroups: z.array(PoolGroupSettings).default([]).describe("pools that are given together"),
  templates: z
    .array(z.strictObject({ name }))
    .default([])
    .describe("managed templates; applying them is not there yet"),
  algorithms: z.array(AlgorithmSettings).default([]).describe("algorithms beyond those known"),
  coins: z.array(CoinSettings).default([]).describe("coins beyond those known"),
  rules: z.array(z.strictObject({ name })).default([]).describe("manual rules, by name; running them is not there yet"),
  users: z.array(UserSettings).default([]).describe("who may use the API, beside the one key"),
  rates: z
    .strictObject({ btc: z.number().positive().optional().describe("money per BTC") })
    .prefault({})
    .describe("rates of exchange, in the display currency"),
  electricity: z
    .strictObject({ price: z.number().min(0).optional().describe("money per kWh") })
    .prefault({})
    .describe("what power costs, in the display currency"),
  heating: Heatings.describe("rooms that rigs heat: one, or a list"),
  follow: Follows.describe("groups of rigs that follow a surplus of power: one, or a list"),
  scan: ScanSettings.optional().describe("searching networks for rigs; absent = only when asked"),
  mqtt: MqttSettings.optional().describe("the MQTT bridge; absent = none"),
  history: z
    .strictObject({
      raw: z.number().min(0.1).max(60).default(2).describe("days that every sample is kept"),
      hourly: z.number().min(1).max(7300).default(730).describe("days that hourly means are kept"),
    })
    .prefault({})
    .describe("how long readings are kept"),
});
export type Config = z.infer<typeof Config>;
