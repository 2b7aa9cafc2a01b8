import { z } from "zod";
import { secret } from "./secrets.ts";

/**
 * Messages between the service and a host's agent: JSON texts over one WebSocket that the agent opens, and binary
 * frames with the bytes of connections to the APIs of its programs (`Frame`). The agent is the authority: it builds
 * every command line itself, from the catalogue and these fields, and refuses everything that its own configuration
 * does not allow.
 */
export const agentPath = "/api/agents/connect";

/**
 * Header of the answer that opens the WebSocket, of a service that shares its store with others: the name of the store, the
 * epoch in which this service is active, and when it began (epoch ms). An agent that has seen a later one refuses the
 * connection, with this close code and the epoch that it has seen.
 */
export const leaseHeader = "rigbridge-lease";
export const laterEpochCode = 4_001;

const id = z.int().min(1);
const text = z.string().max(500);
const words = z.string().max(4_000);
const measured = z.number().nullable();

/** Bytes of a message; a longer one ends the connection. */
export const agentMessageBytes = 1_000_000;

/** A pool in the form that a program receives. */
export const ProgramPool = z.object({
  url: text,
  worker: text,
  wallet: text,
  password: secret(text),
});
export type ProgramPool = z.infer<typeof ProgramPool>;

/** Settings of one GPU while a program runs; null leaves a setting as it is. */
export const GpuSettings = z.object({
  /** Number of its PCI bus; null for each GPU that no other entry names. */
  bus: z.int().nullable(),
  powerLimit: measured.describe("W"),
  coreClock: measured.describe("Hz, locked"),
  memoryClock: measured.describe("Hz, locked"),
  fan: measured.describe("%"),
});
export type GpuSettings = z.infer<typeof GpuSettings>;

/** The source of a program's files. */
export const ProgramFiles = z.discriminatedUnion("from", [
  /** A path or a download that the host's own configuration declares. */
  z.object({ from: z.literal("host") }),
  z.object({ from: z.literal("path"), path: z.string().min(1).max(1_000) }),
  z.object({
    from: z.literal("download"),
    url: z.url({ protocol: /^https$/ }),
    /** Null: by the checksums that the publisher lists, or once confirmed by an administrator. */
    sha256: z
      .string()
      .regex(/^[0-9a-f]{64}$/)
      .nullable(),
  }),
]);
export type ProgramFiles = z.infer<typeof ProgramFiles>;

/** A program waits while one of these processes is running, or other programs use more of the processor than this (%). */
export const IdleRule = z.object({ processes: z.array(text).max(50), load: measured });
export type IdleRule = z.infer<typeof IdleRule>;

/** A program of a host: the fields of a managed miner with its pools. */
export const Program = z.object({
  /** That of the managed miner. */
  id,
  name: text,
  software: text.describe("id of GET /api/miningsoftware"),
  files: ProgramFiles,
  algorithm: text,
  dualAlgorithm: text.nullable(),
  pools: z.array(ProgramPool).max(20).describe("in order of failover"),
  dualPools: z.array(ProgramPool).max(20),
  parameters: secret(words).describe("the user's; split as a shell splits words, never expanded"),
  /** Whether it should run. It is then restarted when it exits, even while the service is not reachable. */
  running: z.boolean(),
  gpuSettings: z.array(GpuSettings).max(64),
  idle: IdleRule.nullable(),
});
export type Program = z.infer<typeof Program>;

/**
 * `waiting`: it exited and will be restarted. `idle`: it should run, but waits for other work on the host to end.
 * `failed`: the agent gave up until a user starts it. `confirming`: its download awaits confirmation.
 */
export const ProgramStatus = z.enum([
  "stopped",
  "downloading",
  "confirming",
  "starting",
  "running",
  "stopping",
  "waiting",
  "idle",
  "failed",
]);
export type ProgramStatus = z.infer<typeof ProgramStatus>;

export const ProgramState = z.object({
  id,
  status: ProgramStatus,
  pid: z.int().nullable(),
  startedAt: z.int().nullable().describe("epoch ms"),
  /** Port of its API on the host's loopback; null if it has no API or does not run. */
  apiPort: z.int().nullable(),
  apiToken: secret(text.nullable()),
  /** Starts since a user started it. */
  starts: z.int(),
  exit: z.object({ code: z.int().nullable(), signal: text.nullable(), at: z.int() }).nullable(),
  /** Why it does not run, and what to do about it. */
  message: words.nullable(),
  /** Its last output before it failed for good (`failed`) or was restarted by request; secrets are redacted. */
  lastLines: z.array(words).max(50),
  download: z.object({ url: words, bytes: z.int(), sha256: text }).nullable(),
});
export type ProgramState = z.infer<typeof ProgramState>;

export const HostGpu = z.object({
  /** Counted on the host from 0, by PCI bus. */
  id: z.int(),
  name: text,
  vendor: z.enum(["nvidia", "amd", "intel"]),
  /** Counted within its maker from 0, by PCI bus. */
  vendorId: z.int(),
  pciBusId: z.int(),
  /** The card stopped answering: the driver has lost it. */
  lost: z.boolean(),
  activity: measured.describe("%"),
  clock: measured.describe("Hz"),
  memoryClock: measured.describe("Hz"),
  voltage: measured.describe("V"),
  powertune: measured.describe("%, of the power limit above the default one"),
  fanRpm: measured,
  fanPercent: measured,
  temperature: measured.describe("°C"),
  memoryTemperature: measured.describe("°C"),
  power: measured.describe("W"),
  powerLimit: measured.describe("W"),
  memory: measured.describe("bytes"),
});
export type HostGpu = z.infer<typeof HostGpu>;

/** The state of a host. */
export const HostReport = z.object({
  name: text.describe("its host name"),
  system: text.describe("its operating system with version"),
  cpu: text,
  cores: z.int(),
  uptime: z.number().describe("s"),
  load: measured.describe("% of its processors, of the last minute"),
  memory: measured.describe("bytes"),
  memoryFree: measured.describe("bytes"),
  diskFree: measured.describe("bytes, where programs are kept"),
  gpus: z.array(HostGpu).max(64),
});
export type HostReport = z.infer<typeof HostReport>;

/** What the agent's own configuration allows the service to do. */
export const AgentPermissions = z.object({
  folders: z.array(text).max(50),
  downloads: z.boolean(),
  reboot: z.boolean(),
  gpuSettings: z.boolean(),
});
export type AgentPermissions = z.infer<typeof AgentPermissions>;

/**
 * A program of the agent's own configuration, for GET /api/miningsoftware; or one of the catalogue with files of its
 * own.
 */
export const OwnSoftware = z.object({
  id: text,
  name: text,
  api: text.nullable().describe("driver that reads it, null for none"),
  algorithms: z.array(text).max(500),
});
export type OwnSoftware = z.infer<typeof OwnSoftware>;

/** The actions for a mining program that the agent does not run itself. */
export const foreignActions = ["start", "stop", "restart"] as const;
export type ForeignAction = (typeof foreignActions)[number];

/** Such a program, from the agent's own configuration. */
export const ForeignProgram = z.object({
  port: z.int().min(1).max(65_535).describe("of its API"),
  actions: z.array(z.enum(foreignActions)).max(3),
});
export type ForeignProgram = z.infer<typeof ForeignProgram>;

export const FromAgent = z.discriminatedUnion("t", [
  /** The first message. */
  z.object({
    t: z.literal("hello"),
    version: text,
    permissions: AgentPermissions,
    software: z.array(OwnSoftware).max(100),
    host: HostReport,
    programs: z.array(ProgramState).max(100),
    /** Absent from agents of earlier releases. */
    foreign: z.array(ForeignProgram).max(50).default([]),
  }),
  z.object({ t: z.literal("host"), host: HostReport }),
  z.object({ t: z.literal("program"), program: ProgramState }),
  /** The answer to request `n`: its result, or the reason for its failure. */
  z.object({
    t: z.literal("done"),
    n: z.int(),
    message: words.optional(),
    error: z.object({ code: text, message: words }).optional(),
    /** The reply to `command`, redacted. */
    command: z.array(words).max(500).optional(),
  }),
  /** A connection to a program's API ended, or could not be opened. */
  z.object({ t: z.literal("closed"), channel: z.int(), error: words.optional() }),
]);
export type FromAgent = z.infer<typeof FromAgent>;

export const ToAgent = z.discriminatedUnion("t", [
  /** All programs of this host, sent after `hello` and after each change; any others are ended and forgotten. */
  z.object({ t: z.literal("programs"), programs: z.array(Program).max(100) }),
  /** Requests; each is answered by `done`. A start or restart also ends the state `failed`. */
  z.object({ t: z.literal("start"), n: z.int(), id }),
  z.object({ t: z.literal("stop"), n: z.int(), id }),
  z.object({ t: z.literal("restart"), n: z.int(), id }),
  z.object({ t: z.literal("reboot"), n: z.int() }),
  z.object({ t: z.literal("foreign"), n: z.int(), port: z.int(), action: z.enum(foreignActions) }),
  /** Requests the command line that this program would be started with. */
  z.object({ t: z.literal("command"), n: z.int(), program: Program }),
  /** Confirms a download by its checksum. */
  z.object({ t: z.literal("confirm"), n: z.int(), id, sha256: text }),
  /** Opens a connection to the API of a running program; `channel` is chosen by the service. */
  z.object({ t: z.literal("open"), channel: z.int(), id }),
  z.object({ t: z.literal("close"), channel: z.int() }),
]);
export type ToAgent = z.infer<typeof ToAgent>;
