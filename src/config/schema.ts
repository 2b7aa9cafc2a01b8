import { homedir } from "node:os";
import { isAbsolute, join } from "node:path";
import { z } from "zod";
import { Facility } from "../contract/facility-settings.ts";
import { CoinName, GetsIt, Line, minerFields, PoolUrl, UserName } from "../contract/inputs.ts";
import { PlugSettings } from "../contract/plug-settings.ts";
import { Uid } from "../contract/resources.ts";
import { MaintenanceSettings, RuleSettings, ScheduleSettings } from "../contract/rules.ts";
import { secret } from "../contract/secrets.ts";
import { Signals } from "../contract/signal-settings.ts";
import { TemplateSteps } from "../contract/steps.ts";
import { templateProgramFields } from "../contract/templates.ts";
import { TimeZone } from "../contract/time-zone.ts";
import { drivers } from "../link/drivers/index.ts";
import { Channels, HookSettings } from "./channels.ts";
import type { Environment } from "./environment.ts";
import { GpuSettingsOfModel } from "./gpu-settings.ts";
import { RemoteWriteSettings } from "./history.ts";
import { Follows, Heatings, RoomMaximum } from "./loops.ts";
import { ElectricitySettings, MarketSettings, PoolViewSettings, RateSettings } from "./money.ts";
import { MqttSettings } from "./mqtt.ts";
import { OwnAgentSettings } from "./own-agent.ts";
import { CentreSettings, Sites } from "./sites.ts";
import { Software } from "./software.ts";
import { UpdateSettings } from "./updates.ts";
import { WebhookHosts } from "./webhook-hosts.ts";

/**
 * The configuration, as in `additions` of the API ("Config keys"). Every key is optional; a key without effect in this
 * version is refused rather than ignored.
 */
const name = Line(200).min(1);
const key = z
  .string()
  .min(16, "needs at least 16 characters")
  .max(200)
  .regex(/^[\x21-\x7e]+$/, "must be printable ASCII without spaces");
const workerWords = "must be auto or a whole number from 0 to 64";
const seconds = z.number().min(0).max(86_400);

const knownLocale = (locale: string): boolean => {
  try {
    return Intl.NumberFormat.supportedLocalesOf(locale).length > 0;
  } catch {
    return false;
  }
};
const origin = z.string().refine((text) => URL.canParse(text) && new URL(text).origin === text, {
  message: "must be an origin such as https://panel.example",
});

export const HttpSettings = z.strictObject({
  host: z.string().min(1).max(253).default("127.0.0.1").describe("address to listen on"),
  port: z.int().min(0).max(65535).default(17790).describe("port to listen on; 0 = any free one"),
  key: secret(key.optional()).describe("API key; without it the service listens on loopback only"),
  origins: z.array(origin).default([]).describe("web origins that may call the API from a browser (CORS)"),
  hosts: z.array(z.string().min(1).max(253)).default([]).describe("further host names of this service"),
  trustedProxies: z
    .array(z.union([z.ipv4(), z.ipv6(), z.cidrv4(), z.cidrv6()], "must be an IP address or a range such as 10.0.0.0/8"))
    .default([])
    .describe("proxies whose X-Forwarded-For, X-Forwarded-Proto and X-Forwarded-Host are trusted"),
  ingress: z
    .union([z.ipv4(), z.ipv6()], "must be an IP address such as 172.30.32.2")
    .optional()
    .describe(
      "address of Home Assistant's ingress; it is served under any host name, and without a key if none is set",
    ),
  open: z.boolean().default(false).describe("listen on other addresses than loopback without a key"),
  keylessRead: z.boolean().default(false).describe("private addresses may read without a key, with the privilege view"),
  mcp: z.boolean().default(false).describe("serve the Model Context Protocol at /mcp, for AI assistants"),
  announce: z
    .boolean()
    .default(true)
    .describe("announce this service on the network by mDNS, if it listens beyond loopback"),
});
export type HttpSettings = z.infer<typeof HttpSettings>;

export const DisplaySettings = z.strictObject({
  locale: z
    .string()
    .refine(knownLocale, "is not a known locale; use one such as en-US or sv-SE")
    .default("en-US")
    .describe("format of numbers and dates, such as en-US or sv-SE"),
  currency: z
    .string()
    .regex(/^[A-Z]{3}$/, "must be a currency code such as USD")
    .default("USD")
    .describe("currency code, such as USD"),
  timeZone: TimeZone.optional().describe("time zone, such as Europe/Stockholm; absent = that of the machine"),
  groups: z
    .enum(["nested", "flat"])
    .default("nested")
    .describe("groups inside groups in the list of miners: nested, or flat with names such as Hall / Row 1"),
});
export type DisplaySettings = z.infer<typeof DisplaySettings>;

const minOn = seconds.describe("minimum seconds that a rig mines before its power target may stop it");
const minOff = seconds.describe("minimum seconds that a rig is stopped before its power target may start it");
const changesPerHour = z
  .int()
  .min(1)
  .max(3600)
  .describe(
    "maximum changes per hour by its power target that are lasting or restart mining; a fast throttle does not count",
  );

export const MinerSettings = z.strictObject({
  address: z.string().min(1).max(300).describe("host, host:port or http(s)://host:port"),
  uid: Uid.optional().describe("uid, for a rig that reports neither MAC nor serial number"),
  group: name.optional().describe("name of a group in groups"),
  ...minerFields,
  name: minerFields.name.describe("name of the miner"),
  driver: z
    .enum(drivers.map(({ id }) => id))
    .optional()
    .describe("the only driver to use; absent = recognised automatically"),
  username: minerFields.username.describe("user name of the rig's own login"),
  password: minerFields.password.describe("password of the rig's own login"),
  token: minerFields.token.describe("access token of the rig, for XMRig"),
  location: minerFields.location.unwrap().strict().optional().describe("location of the rig"),
  tags: minerFields.tags.describe("words for searching"),
  supply: PlugSettings.optional().describe("smart plug that powers the rig"),
  power: z
    .strictObject({ minOn: minOn.optional(), minOff: minOff.optional(), changesPerHour: changesPerHour.optional() })
    .optional()
    .describe("limits of this rig that differ from power"),
  electricity: ElectricitySettings.optional().describe("price of its electricity; absent = that of its group"),
});
export type MinerSettings = z.infer<typeof MinerSettings>;

export const LoginSettings = z.strictObject({
  name: name.describe("name of the login; names are unique"),
  driver: z
    .enum(drivers.map(({ id }) => id))
    .optional()
    .describe("the kind of rig that it is for; a search tries it at no other"),
  username: minerFields.username.describe("user name"),
  password: minerFields.password.describe("password"),
  token: minerFields.token.describe("access token, for XMRig"),
});
export type LoginSettings = z.infer<typeof LoginSettings>;

export const DefaultSettings = z.strictObject({
  group: name.optional().describe("name of a group: rigs in it and in the groups inside it; absent = in any or none"),
  range: z
    .string()
    .min(1)
    .max(60)
    .optional()
    .describe("IPv4 addresses, such as 10.1.0.0/16 or 10.1.0.10-10.1.0.80; absent = any address"),
  login: minerFields.login.describe("name of the login of rigs without one"),
  interval: minerFields.interval,
  location: minerFields.location.unwrap().strict().optional().describe("location of rigs without one"),
});

export interface GroupSettings {
  name: string;
  room?: boolean | { max?: number | undefined } | undefined;
  electricity?: ElectricitySettings | undefined;
  groups?: GroupSettings[] | undefined;
}
export const GroupSettings: z.ZodType<GroupSettings> = z.strictObject({
  name,
  room: z
    .union(
      [z.boolean(), z.strictObject({ max: RoomMaximum.optional() })],
      "must be true, false, or a mapping with max, in W",
    )
    .optional()
    .describe(
      "whether it is a room, which Home Assistant shows as an area and the family page with a slider; with max, in W, " +
        "its rigs take no more than that together; absent = no",
    ),
  electricity: ElectricitySettings.optional().describe(
    "price of its electricity; absent = that of the group around it",
  ),
  get groups() {
    return z.array(GroupSettings).optional().describe("groups inside this one");
  },
});

export const PoolSettings = z.strictObject({
  name: name.describe("name of the pool; names are unique"),
  url: PoolUrl.describe("URL, such as stratum+tcp://pool.example:3333"),
  worker: Line(256).default("").describe("worker or account name"),
  wallet: Line(256).default("").describe("wallet address, for pools that need one"),
  password: secret(Line(256).default("")).describe("password at the pool, often x"),
  coin: z
    .union([CoinName, z.literal("")], "must be 1 to 32 characters of A-Z, a-z, 0-9, dot, underscore and hyphen")
    .default("")
    .describe("short name of the coin"),
  algorithm: z.string().max(64).default("").describe("id of the algorithm"),
  view: PoolViewSettings.optional().describe("the pool's own figures of its workers; absent = not asked"),
  runsAt: GetsIt,
});
export type PoolSettings = z.infer<typeof PoolSettings>;

export const PoolGroupSettings = z.strictObject({
  name,
  pools: z.array(name).describe("names of pools, in order of priority"),
  runsAt: GetsIt,
});

export const CoinSettings = z.strictObject({
  shortName: CoinName.describe("such as BTC"),
  name: Line(100).min(1),
  algorithm: z.string().min(1).max(64).describe("id of the algorithm"),
  profit: z.number().min(0).optional().describe("BTC per MH/s per day"),
});

export const AlgorithmSettings = z.strictObject({
  id: z
    .string()
    .regex(/^[a-z0-9-]{1,64}$/, "must be 1 to 64 characters of a-z, 0-9 and -")
    .describe("id that pools and coins refer to"),
  name: Line(100).min(1),
  hashesPerDifficulty: z.number().positive().describe("hashes per unit of difficulty"),
});

export const UserSettings = z.strictObject({
  name: UserName,
  key: secret(key.optional()).describe("API key of this user"),
  privilege: z.enum(["administrator", "control", "view"]).default("view").describe("what the user may do"),
  groups: z.array(name).optional().describe("groups that the user sees; absent = all"),
  pools: z.array(name).optional().describe("pools that the user sees; absent = all"),
  centre: z
    .boolean()
    .default(false)
    .describe("whether the key belongs to a centre, so that the log shows the people who act there"),
});

export const ScanSettings = z.strictObject({
  networks: z
    .array(z.string().min(1).max(60))
    .min(1)
    .max(64)
    .optional()
    .describe(
      "such as 192.168.1.0/24, or 192.168.1.0/24:8080 to try one more port; absent = the machine's own networks",
    ),
  every: z
    .number()
    .min(60)
    .max(604_800)
    .optional()
    .describe("seconds between two searches, the first at the start; absent = only on request"),
  add: z
    .enum(["ask", "auto"])
    .default("ask")
    .describe("a rig found automatically: ask = a notification, auto = it is added"),
  reports: z
    .boolean()
    .default(false)
    .describe(
      "listen for rigs that report themselves, by UDP on the ports 14235 (the IP Report button of an Antminer) and 8888 (WhatsMiner)",
    ),
  leases: z
    .array(z.string().min(1).max(1000))
    .max(16)
    .default([])
    .describe(
      "files that say which addresses are in use, read every minute: the leases of dnsmasq, ISC dhcpd or Kea (CSV), or /proc/net/arp; rigs there that are new or have moved are offered",
    ),
  logins: z
    .array(name)
    .max(500)
    .default([])
    .describe(
      "names of logins that are tried at rigs before they are added automatically: those for its kind, in this order, three at most, since some rigs lock after more",
    ),
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
        .describe(
          'SQLite file, relative to the configuration; ":memory:" keeps nothing; or the URL of a PostgreSQL database, which the services of one site share: postgres://user:password@host:5432/database',
        ),
      site: name
        .optional()
        .describe("the name of the site whose services share the PostgreSQL database; only one of them is active"),
      allowLoss: z
        .boolean()
        .optional()
        .describe(
          "uses a PostgreSQL database whose synchronous_commit is off: a failure of its server may undo what was confirmed last",
        ),
    })
    .prefault({})
    .describe("storage of settings, ids and history"),
  display: DisplaySettings.prefault({}).describe("formats of displayed values"),
  poll: z
    .strictObject({
      interval: z.number().min(1).max(3600).default(10).describe("seconds between two reads of a rig"),
      timeout: z
        .number()
        .min(0.5)
        .max(60)
        .default(5)
        .describe("seconds before a read times out; a rig that answers more slowly gets more, up to its interval"),
      workers: z
        .union([z.literal("auto", workerWords), z.int(workerWords).min(0, workerWords).max(64, workerWords)])
        .default(0)
        .describe(
          "worker threads that read the rigs, or auto: one for each 10,000 rigs at 10 s; 0 = the main thread does",
        ),
      nameplates: z
        .boolean()
        .default(false)
        .describe(
          "rigs that do not report their power count with that of their model's nameplate while they mine, if it is known; " +
            "it is marked nameplate, and their cost and profit are estimates",
        ),
      makersLogins: z.boolean().default(false).describe("if no login is given, try the maker's default login"),
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
    .describe("limits for rigs whose power is controlled automatically"),
  miners: z.array(MinerSettings).max(100_000).default([]).describe("rigs declared by this file"),
  logins: z
    .array(LoginSettings)
    .max(500)
    .default([])
    .describe("logins of rigs; rigs name theirs, so that a password is saved and changed in one place"),
  defaults: z
    .array(DefaultSettings)
    .max(500)
    .default([])
    .describe("settings of rigs that do not have their own, by group and address; the first entry that fits counts"),
  groups: z.array(GroupSettings).default([]).describe("groups of miners, which may contain groups"),
  pools: z.array(PoolSettings).default([]).describe("pools that miners can be assigned"),
  poolGroups: z.array(PoolGroupSettings).default([]).describe("pools that are assigned together"),
  templates: z
    .array(
      z.strictObject({
        name: name.describe("name of the template; names are unique"),
        do: TemplateSteps.optional().describe("steps that it runs on a miner: pools, controls and actions"),
        ...templateProgramFields,
        runsAt: GetsIt,
      }),
    )
    .default([])
    .describe("managed templates: named lists of steps that are applied to miners"),
  algorithms: z.array(AlgorithmSettings).default([]).describe("algorithms that Rigbridge does not know"),
  coins: z.array(CoinSettings).default([]).describe("coins that Rigbridge does not know"),
  rules: z
    .array(RuleSettings)
    .max(1_000)
    .default([])
    .describe("rules: conditions, how long they must hold, and what is done; one with only a name does nothing"),
  schedules: z
    .array(ScheduleSettings)
    .max(1_000)
    .default([])
    .describe("what is done at times, or by electricity price"),
  maintenance: z
    .array(MaintenanceSettings)
    .max(1_000)
    .default([])
    .describe("times in which rules and schedules do nothing at some miners, and their notifications are silent"),
  automation: z
    .strictObject({
      programs: z.boolean().default(false).describe("rules may run programs of this machine"),
      webhookHosts: WebhookHosts,
    })
    .prefault({})
    .describe("what rules may do"),
  sites: Sites,
  centre: CentreSettings.optional().describe(
    "the centre that shows and controls the rigs of this service; absent = none",
  ),
  users: z.array(UserSettings).default([]).describe("users of the API, each with their own key"),
  rates: RateSettings.prefault({}).describe("exchange rates, in the display currency"),
  electricity: ElectricitySettings.prefault({}).describe("electricity price, in the display currency"),
  market: MarketSettings.prefault({}).describe("sources of coins and exchange rates"),
  heating: Heatings.describe("rooms heated by rigs: one, or a list"),
  follow: Follows.describe("groups of rigs that follow a power surplus: one, or a list"),
  facility: Facility.describe("PDUs, meters, sensors, fans and coolers of the building"),
  signals: Signals.describe("signals of the grid that begin and end curtailments"),
  channels: Channels.describe("where notifications are sent, such as a phone"),
  hooks: z.array(HookSettings).max(100).default([]).describe("web hooks that come in and trigger rules"),
  software: Software,
  agent: OwnAgentSettings.prefault({}).describe("mining programs on the service's own machine"),
  gpuSettings: z
    .array(GpuSettingsOfModel)
    .max(500)
    .default([])
    .describe("power limits, clocks and fans of graphics cards by model and algorithm, on hosts that allow it"),
  scan: ScanSettings.optional().describe("searching networks for rigs; absent = only on request"),
  mqtt: MqttSettings.optional().describe("the MQTT bridge; absent = none"),
  history: z
    .strictObject({
      raw: z.number().min(0.1).max(60).default(2).describe("days to keep every sample"),
      hourly: z.number().min(1).max(7300).default(730).describe("days to keep hourly means"),
      remoteWrite: RemoteWriteSettings.optional().describe(
        "sends samples to a time-series database by Prometheus remote write; absent = to none",
      ),
    })
    .prefault({})
    .describe("retention of readings"),
  updates: UpdateSettings.optional().describe("asks which version is the newest; absent = never"),
});
export interface Config extends z.infer<typeof Config> {}

/** The configuration without a file; the store is in the user's data folder. */
export function defaultConfig(env: Environment = process.env): Config {
  const config = Config.parse({});
  return { ...config, store: { url: join(dataFolder(env), "rigbridge.db") } };
}

/** By the XDG Base Directory Specification, which ignores relative paths. */
function dataFolder(env: Environment): string {
  const base = env.XDG_DATA_HOME;
  return join(base !== undefined && isAbsolute(base) ? base : join(homedir(), ".local", "share"), "rigbridge");
}
