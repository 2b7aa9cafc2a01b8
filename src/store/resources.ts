import { z } from "zod";
import { HostGpu, IdleRule } from "../contract/agent.ts";
import type { CodedText } from "../contract/coded-text.ts";
import { RefusedDefinition } from "../contract/owned.ts";
import { PlaceKind } from "../contract/places.ts";
import { PlugSettings } from "../contract/plug-settings.ts";
import {
  CommandCause,
  coinClasses,
  commandStates,
  GpuTuning,
  Location,
  ManagedMiner,
  Position,
  type Severity,
  Uid,
} from "../contract/resources.ts";
import { Steps, TemplateSteps } from "../contract/steps.ts";
import { BenchmarkEntry, Switching } from "../contract/switching.ts";

/** The stored rows without ids and owners, which every collection adds. Unknown is null. */
const text = z.string();
const optional = z.string().nullable();
const ids = z.array(z.int());

/** The centre that it belongs to: the name of its user; absent for what belongs to the service itself. */
const centre = text.optional();

export const StoredMiner = z.object({
  address: text.describe("canonical text"),
  name: optional,
  uid: optional.describe("as configured; the one in use is in the rig's memory"),
  driver: optional,
  groupId: z.int(),
  username: optional,
  password: optional,
  token: optional,
  login: optional.default(null).describe('name of a login in the settings; null: that of the defaults; "": none'),
  interval: z.number().nullable().describe("s"),
  location: Location.nullable().default(null).describe("in a row of an earlier release, until the service starts"),
  placeId: z.int().nullable().default(null),
  position: Position.nullable().default(null).describe("in its place"),
  slot: optional.default(null).describe("the last part of its location, which is no place"),
  tags: z.array(text),
  offlineExpected: z.boolean(),
  powerNameplate: z.number().nullable().describe("W"),
  supply: PlugSettings.nullable().default(null),
  power: z
    .object({ minOn: z.number(), minOff: z.number(), changesPerHour: z.number() })
    .partial()
    .default({})
    .describe("as configured: s, s, and a count"),
});
export type StoredMiner = z.infer<typeof StoredMiner>;

export const StoredPlace = z.object({
  uid: Uid,
  kind: PlaceKind,
  name: text,
  parentId: z.int().nullable().describe("null = at the top"),
  order: z.int().default(0).describe("among the places of its parent; equal ones by name"),
  columns: z.int().optional(),
  rows: z.int().optional(),
  maxPower: z.number().optional().describe("W"),
  meter: text.optional(),
  exempt: z.boolean().optional(),
});
export type StoredPlace = z.infer<typeof StoredPlace>;

export const StoredGroup = z.object({
  name: text,
  parentId: z.int().describe("0 = at the top"),
  room: z.boolean().optional(),
  max: z.number().optional().describe("W that its rigs may take together, as in the file"),
});
export type StoredGroup = z.infer<typeof StoredGroup>;

export const StoredPool = z.object({
  description: text,
  coinClass: text,
  coinShortName: text,
  coinAlgorithm: text,
  url: text,
  workerName: text,
  walletAddress: text,
  plainWorkerPassword: text,
  runsAt: z.array(text).optional().describe("other sites that get it"),
  centre,
});
export type StoredPool = z.infer<typeof StoredPool>;

export const StoredPoolGroup = z.object({ name: text, pools: ids, runsAt: z.array(text).optional(), centre });
export type StoredPoolGroup = z.infer<typeof StoredPoolGroup>;

export const StoredHost = z.object({
  description: text,
  hostname: text,
  uid: Uid.nullable().default(null).describe("null in a row of an earlier release, until the service starts"),
  groupId: z.int().default(0),
  gpus: z
    .object({ at: z.number().describe("epoch ms"), list: z.array(HostGpu) })
    .nullable()
    .default(null)
    .describe("as its agent reported them when the cards were last others"),
});
export type StoredHost = z.infer<typeof StoredHost>;

/** The token of a host's agent. */
export const StoredAgent = z.object({ hostId: z.int(), digest: text.describe("SHA-256 in hex; never the token") });
export type StoredAgent = z.infer<typeof StoredAgent>;

/** The checksum of a download that an administrator has confirmed. */
export const StoredDownload = z.object({ url: text, sha256: text });
export type StoredDownload = z.infer<typeof StoredDownload>;

/** Columns of later releases have defaults: managed miners of earlier ones stay stopped until a user starts them. */
export const StoredManagedMiner = ManagedMiner.omit({ id: true, note: true, uid: true, status: true }).extend({
  groupId: z.int().nullable().default(null).describe("null = that of its host"),
  running: z.boolean().default(false),
  addedPools: ids.default([]),
  gpuSettings: z.array(GpuTuning).default([]),
  idle: IdleRule.nullable().default(null),
  switching: Switching.nullable().default(null),
  switchedAt: z.number().nullable().default(null).describe("epoch ms of its last switch to another choice"),
});
export type StoredManagedMiner = z.infer<typeof StoredManagedMiner>;

/** The user who created it over the API, whose access it has; null for the file and for the owner. */
const makerId = z.int().nullable().default(null);

/** Checked by the service, so that a row refused by a later version does not keep the store from opening. */
const definition = z.record(text, z.unknown());

/** The ids of the names in its steps, by kind and name, as in src/service/links.ts; absent until resolved. */
const links = z.record(text, z.int()).optional();

export const StoredTemplate = z.object({
  name: text,
  links,
  do: TemplateSteps.nullable().default(null).describe("null: it has only a name"),
  softwareType: text.nullable().default(null),
  algorithm: text.nullable().default(null),
  dualAlgorithm: text.nullable().default(null),
  commandLineParams: text.nullable().default(null),
  makerId,
  runsAt: z.array(text).optional().describe("other sites that get it"),
  centre,
});
export type StoredTemplate = z.infer<typeof StoredTemplate>;

export const StoredRule = z.object({
  name: text,
  links,
  do: Steps.nullable().default(null).describe("null: it has only a name"),
  manual: z.boolean().default(true).describe("whether people can run it as an action of a miner"),
  makerId,
  centre,
  definition: definition.nullish().describe("as in the configuration file; null: it has only a name"),
});
export type StoredRule = z.infer<typeof StoredRule>;

export const StoredSchedule = z.object({ name: text, links, makerId, centre, definition });
export type StoredSchedule = z.infer<typeof StoredSchedule>;

export const StoredMaintenance = z.object({ name: text, makerId, centre, definition });
export type StoredMaintenance = z.infer<typeof StoredMaintenance>;

export const StoredCurtailmentPlan = z.object({ name: text.describe("its key"), definition });
export type StoredCurtailmentPlan = z.infer<typeof StoredCurtailmentPlan>;

export const StoredChannel = z.object({
  name: text.describe("its key"),
  definition: definition.nullable().describe("as in the configuration file, with its secrets; null: it is in the file"),
});
export type StoredChannel = z.infer<typeof StoredChannel>;

/** A predefined coin has a row only if its profit was set. */
export const StoredCoin = z.object({
  shortName: text,
  name: text,
  algorithm: text,
  coinClass: z.enum(coinClasses),
  profit: z.number().nullable().describe("BTC per MH/s per day"),
  profitUsd: z.number().nullable().describe("USD per MH/s per day, where the price was given in USD"),
  updated: z.number().nullable().describe("epoch ms"),
});
export type StoredCoin = z.infer<typeof StoredCoin>;

/** A room of the file, with its current target. */
export const StoredHeating = z.object({
  name: text,
  declared: z.number().describe("°C in the file"),
  target: z.number().describe("°C"),
  setAt: z.number().nullable().describe("epoch ms when a user set it; null = as in the file"),
});
export type StoredHeating = z.infer<typeof StoredHeating>;

/** A section of the configuration that was saved over the API, secrets included. */
export const StoredSection = z.object({
  section: text,
  value: z.json(),
  isSaved: z.boolean().describe("false = it is back to its defaults"),
  before: z.json().describe("what was saved before, for undoing"),
  isSavedBefore: z.boolean(),
  revision: z.int().describe("counts the saves"),
});
export type StoredSection = z.infer<typeof StoredSection>;

/** The limit that an administrator has set for a room over the API. */
export const StoredRoomMaximum = z.object({
  room: text.describe("its key, as in GET /api/rooms"),
  max: z.number().describe("W"),
});
export type StoredRoomMaximum = z.infer<typeof StoredRoomMaximum>;

/** The user's limit on a follower's share of its surplus. */
export const StoredFollowLimit = z.object({ follow: text.describe("its name"), watts: z.number().describe("W") });
export type StoredFollowLimit = z.infer<typeof StoredFollowLimit>;

/** A miner in repair, also one of the configuration file. */
export const StoredRepair = z.object({ minerId: z.int(), note: text, since: z.number().describe("epoch ms") });
export type StoredRepair = z.infer<typeof StoredRepair>;

/** Measured hash rate and power of one card (or processor) of a model with a program and an algorithm. */
export const StoredBenchmark = BenchmarkEntry.omit({ id: true }).extend({ at: z.number().describe("epoch ms") });
export type StoredBenchmark = z.infer<typeof StoredBenchmark>;

export const StoredUser = z.object({
  name: text,
  keyHash: optional.describe("SHA-256 in hex; never the key"),
  privilege: z.enum(["administrator", "control", "view"]),
  groups: ids.nullable().describe("null = all"),
  pools: ids.nullable().describe("null = all"),
  centre: z.boolean().optional().describe("whether its key belongs to a centre, which names the person who acts"),
});
export type StoredUser = z.infer<typeof StoredUser>;

/** What a centre has defined here. */
export const StoredCentre = z.object({
  name: text.describe("of its user, or its address"),
  userId: z.int().nullable().describe("null: the centre that this service connects to"),
  version: text.describe("name of the set, as the centre gave it"),
  at: z.number().describe("epoch ms of the last change"),
  actor: text.describe("who changed it"),
  refused: z.array(RefusedDefinition),
});
export type StoredCentre = z.infer<typeof StoredCentre>;

export const StoredSite = z.object({
  name: text,
  instance: optional.describe("name of the store that answered there last; null = none has"),
  digest: optional
    .default(null)
    .describe("SHA-256 in hex of the token with which it connects by itself; null = it has none"),
});
export type StoredSite = z.infer<typeof StoredSite>;

/** A bulk action over several sites. */
export const StoredSiteJob = z.object({
  job: z.int().describe("its number, that of its first share"),
  request: optional.default(null).describe("caller and key of the request that started it"),
  digest: optional.default(null).describe("SHA-256 in hex of that request, with its key"),
  parts: z.array(
    z.object({
      site: z.int(),
      job: z
        .int()
        .nullable()
        .describe("number of the share at the centre; null if the site did not take it, or has not said so yet"),
      miners: ids.describe("numbers of its miners, if it did not, or has not"),
      problem: optional,
      request: optional
        .default(null)
        .describe("key of the request at the site, until it has said whether it took its share; null = it has"),
    }),
  ),
  asked: z
    .object({
      action: text,
      parameters: z.record(text, z.union([text, z.number(), z.boolean()])),
      dryRun: z.boolean(),
      actor: text,
      time: text.describe("ISO"),
    })
    .nullable()
    .default(null)
    .describe("what was asked, shown while no site has said that it took its share; null = by an earlier release"),
});
export type StoredSiteJob = z.infer<typeof StoredSiteJob>;

/** A command for a rig of a site whose answer was lost with the line. */
export const StoredLostCommand = z.object({
  site: z.int(),
  request: text.describe("key with which the site knows the request"),
  minerId: z.int().describe("its number at the centre"),
  minerName: text,
  action: text,
  parameters: z.record(text, z.union([text, z.number(), z.boolean()])),
  actor: text,
  state: z.enum(commandStates),
  message: text,
  time: text.describe("ISO"),
  updated: text.describe("ISO"),
});
export type StoredLostCommand = z.infer<typeof StoredLostCommand>;

export interface NewNotification {
  /** The problem and its subject; null for an event, which closes at once and does not repeat. */
  readonly key: string | null;
  readonly minerId: number | null;
  readonly uid: string | null;
  readonly minerName: string;
  readonly title: string | null;
  readonly source: string;
  readonly message: string;
  /** Codes of these texts, with their values; null for a text written by a user. */
  readonly coded: { readonly title: CodedText | null; readonly message: CodedText | null };
  readonly severity: Severity;
}

export interface StoredNotification extends NewNotification {
  readonly id: number;
  /** When it began, epoch ms. */
  readonly time: number;
  /** When it last occurred, epoch ms. */
  readonly last: number;
  readonly count: number;
  /** When it was closed, epoch ms; null while open. */
  readonly closed: number | null;
  readonly isAcknowledged: boolean;
}

export interface NewOutboxRow {
  /** Key of the channel. */
  readonly channel: string;
  /** Key of the notification; null once its recovery is known. */
  readonly key: string | null;
  readonly event: "alarm" | "recovery";
  readonly severity: Severity;
  readonly title: string;
  readonly message: string;
  /** Name of the miner; "" without one. */
  readonly miner: string;
  /** Name of the miner's group; "" without one. */
  readonly group: string;
  /** When it happened, epoch ms. */
  readonly time: number;
  /** For a recovery: the time of its alarm, epoch ms. */
  readonly alarmTime: number | null;
  /** Epoch ms from which it may be sent. */
  readonly due: number;
}

export interface OutboxRow extends NewOutboxRow {
  readonly id: number;
  /** The text about an alarm that ended before it was sent. */
  readonly over: string | null;
  /** The message that it is part of; null until it is first sent. */
  readonly batch: number | null;
  /**
   * `sending` is written before the first byte leaves; `unknown`: the service stopped in the meantime; `failed`: not
   * delivered, and not retried.
   */
  readonly state: "waiting" | "sending" | "sent" | "failed" | "unknown";
  readonly tries: number;
  /** Epoch ms. */
  readonly ended: number | null;
  /** Why it was not delivered. */
  readonly error: string | null;
}

export const CommandParameters = z.record(text, z.union([text, z.number(), z.boolean()]));
export type CommandParameters = z.infer<typeof CommandParameters>;

/** The cause of a run. */
export const RunCause = CommandCause.omit({ run: true }).extend({ id: z.int() });
export type RunCause = z.infer<typeof RunCause>;

export interface NewCommand {
  /** The run that it belongs to; absent for a command sent by a person or a loop. */
  readonly cause?: CommandCause | null;
  readonly minerId: number;
  readonly minerName: string;
  readonly actor: string;
  readonly action: string;
  /** Without secrets. */
  readonly parameters: CommandParameters;
  /** The message of one that is done as soon as it is stored, such as a note. */
  readonly done?: string;
}

export interface StoredCommand extends Omit<NewCommand, "done"> {
  readonly cause: CommandCause | null;
  readonly id: number;
  readonly state: (typeof commandStates)[number];
  /** The rig's answer. */
  readonly message: string;
  /** When it was requested, epoch ms. */
  readonly time: number;
  /** When its state last changed, epoch ms. */
  readonly updated: number;
}
