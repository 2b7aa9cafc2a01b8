import { z } from "zod";

/**
 * What a rig says of itself, in SI units, null where it does not say. H/s stands for Sol/s and G/s on algorithms
 * that count those. Source: `additions` of the API, "On every miner".
 */
const measured = z.number().nullable();
const count = z.int().nullable();
const text = z.string().nullable();

export const Board = z.object({
  slot: z.int(),
  hashrate: measured.describe("H/s"),
  temperature: measured.describe("°C, of the board"),
  chipTemperature: measured.describe("°C, of the hottest chip"),
  chips: count,
  chipsExpected: count,
  frequency: measured.describe("Hz"),
  voltage: measured.describe("V"),
  serial: text,
});
export type Board = z.infer<typeof Board>;

export const Fan = z.object({ rpm: measured, percent: measured });
export type Fan = z.infer<typeof Fan>;

export const Psu = z.object({
  power: measured.describe("W"),
  voltage: measured.describe("V"),
  temperature: measured.describe("°C"),
  model: text,
  serial: text,
});

export const Shares = z.object({ accepted: count, rejected: count, hardwareErrors: count });

export const PowerSource = z.enum(["measured", "reported", "nameplate"]);

/** The part of the readings that comes from the rig itself; a driver fills it. */
export const RigReadings = z.object({
  hashrate: measured.describe("H/s, now"),
  hashrateAverage: measured.describe("H/s, since mining started"),
  hashrateExpected: measured.describe("H/s, at the present settings"),
  algorithm: text,
  power: measured.describe("W"),
  powerLimit: measured.describe("W"),
  powerSource: PowerSource.nullable(),
  temperature: measured.describe("°C, of the hottest board"),
  temperatureIn: measured.describe("°C"),
  temperatureOut: measured.describe("°C"),
  boards: z.array(Board),
  fans: z.array(Fan),
  psu: Psu.nullable(),
  uptime: measured.describe("s, since mining started"),
  mining: z.boolean().nullable(),
  mode: text,
  locate: z.boolean().nullable(),
  bestShare: measured.describe("difficulty"),
  foundBlocks: count,
  shares: Shares,
  errors: z.array(z.object({ code: z.string(), text: z.string() })),
  notes: z.array(z.string()).describe("what could not be read, what was repaired"),
});
export type RigReadings = z.infer<typeof RigReadings>;

export const ReasonCode = z.enum([
  "user",
  "power-limit",
  "hot",
  "cooling",
  "warming",
  "cold",
  "tuning",
  "pools",
  "network",
  "licence",
  "hardware",
  "no-power",
  "updating",
  "login",
  "unknown",
]);
export type ReasonCode = z.infer<typeof ReasonCode>;

/** Why a rig does not hash. */
export const Reason = z.object({
  code: ReasonCode,
  text: z.string(),
  since: z.iso.datetime().describe("when this code was first seen"),
});
export type Reason = z.infer<typeof Reason>;

export const Readings = z.object({
  at: z.iso.datetime().nullable().describe("when the rig was last read"),
  stale: z.boolean().describe("these are not of now: the last read was missed, or there was none yet"),
  ...RigReadings.shape,
  energy: z.int().nullable().describe("Wh, integrated by the service; never falls"),
  efficiency: measured.describe("J/H: W divided by H/s"),
  startedAt: z.iso.datetime().nullable().describe("moves only when mining restarts"),
  reason: Reason.nullable().describe("why it does not hash; null while it does, and while nobody knows"),
});
export type Readings = z.infer<typeof Readings>;

/** Readings of a rig that says nothing: every figure unknown. */
export const unknownReadings = (): RigReadings => ({
  hashrate: null,
  hashrateAverage: null,
  hashrateExpected: null,
  algorithm: null,
  power: null,
  powerLimit: null,
  powerSource: null,
  temperature: null,
  temperatureIn: null,
  temperatureOut: null,
  boards: [],
  fans: [],
  psu: null,
  uptime: null,
  mining: null,
  mode: null,
  locate: null,
  bestShare: null,
  foundBlocks: null,
  shares: { accepted: null, rejected: null, hardwareErrors: null },
  errors: [],
  notes: [],
});

/** A board of which nothing is known but its slot. */
export const unknownBoard = (slot: number): Board => ({
  slot,
  hashrate: null,
  temperature: null,
  chipTemperature: null,
  chips: null,
  chipsExpected: null,
  frequency: null,
  voltage: null,
  serial: null,
});

export const ControlValue = z.union([z.string(), z.number(), z.boolean()]);
export type ControlValue = z.infer<typeof ControlValue>;

export const ControlKey = z
  .union([
    z.enum([
      "mining",
      "power_limit",
      "power_target",
      "throttle",
      "mode",
      "frequency",
      "voltage",
      "fan",
      "temperature_target",
      "locate",
      "reboot",
      "restart",
    ]),
    z.templateLiteral(["board_", z.int().min(0).max(99)]),
  ])
  .describe("what is steered; a board by its slot");
export type ControlKey = z.infer<typeof ControlKey>;

/** One thing that this rig can be told now. */
export const Control = z.object({
  key: ControlKey,
  kind: z.enum(["switch", "range", "choice", "trigger"]),
  unit: z.enum(["W", "%", "MHz", "mV", "°C"]).nullable(),
  min: z.number().nullable(),
  max: z.number().nullable(),
  step: z.number().nullable(),
  options: z
    .array(z.union([z.string(), z.object({ watts: z.number(), label: z.string() })]))
    .nullable()
    .describe("the words a choice takes; a range may take some beside its numbers (fan: auto)"),
  value: ControlValue.nullable().describe("as the rig reports it now; null where it does not say"),
  lasting: z.boolean().describe("still set after the rig restarts"),
  restartsMining: z.boolean(),
  seconds: z.number().describe("how long it takes until the rig works that way"),
});
export type Control = z.infer<typeof Control>;

/** What a rig is; null where it does not say. */
export const Identity = z.object({
  make: text,
  model: text,
  firmware: text,
  mac: z
    .string()
    .regex(/^([0-9A-F]{2}:){5}[0-9A-F]{2}$/)
    .nullable(),
  hostname: text,
  serial: text,
});
export type Identity = z.infer<typeof Identity>;
