import { z } from "zod";
import { CodedText } from "./coded-text.ts";

/**
 * What a rig reports, in SI units; null if it does not. H/s stands for Sol/s and G/s on algorithms that are measured in
 * those. Source: `additions` of the API, "On every miner".
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

/** The second algorithm of a program that mines two at once. */
export const Dual = z.object({
  algorithm: text,
  hashrate: measured.describe("H/s, current"),
  hashrateAverage: measured.describe("H/s, since mining started"),
  shares: Shares,
});
export type Dual = z.infer<typeof Dual>;

/** A proxy: workers mine through it, and it mines nothing. */
export const ProxyState = z.object({
  workers: count.describe("workers that have mined through it since its start"),
  connections: count.describe("of workers, now"),
  upstreams: count.describe("connections to pools, now"),
  upstreamsFailing: count.describe("connections to pools that could not be opened"),
});
export type ProxyState = z.infer<typeof ProxyState>;

export const PowerSource = z.enum(["measured", "reported", "nameplate"]);

/** The readings that a driver fills in from the rig itself. */
export const RigReadings = z.object({
  hashrate: measured.describe("H/s, current"),
  hashrateAverage: measured.describe("H/s, since mining started"),
  hashrateExpected: measured.describe("H/s, at the current settings"),
  algorithm: text,
  dual: Dual.nullable().describe("the second algorithm, where two are mined at once"),
  proxy: ProxyState.nullable().describe("connections of a proxy; null for any other miner"),
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
  notes: z.array(z.string()).describe("what could not be read or was corrected"),
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
  "program",
  "unknown",
]);
export type ReasonCode = z.infer<typeof ReasonCode>;

/** Why a rig is not hashing. */
export const Reason = z.object({
  code: ReasonCode,
  text: z.string(),
  since: z.iso.datetime().describe("when this code was first seen"),
  coded: CodedText.optional().describe("the text by code; absent for the rig's own words"),
});
export type Reason = z.infer<typeof Reason>;

export const Readings = z.object({
  at: z.iso.datetime().nullable().describe("when the rig was last read"),
  stale: z.boolean().describe("the readings are out of date: the last read failed, or there was none yet"),
  ...RigReadings.shape,
  energy: z.int().nullable().describe("Wh, integrated by the service; never decreases"),
  efficiency: measured.describe("J/H: W divided by H/s; null while the rig ramps up"),
  startedAt: z.iso.datetime().nullable().describe("when mining started; changes only when mining restarts"),
  reason: Reason.nullable().describe("why the rig is not hashing; null while it is, or if the reason is unknown"),
});
export type Readings = z.infer<typeof Readings>;

/** Readings of a rig that reports nothing. */
export const unknownReadings = (): RigReadings => ({
  hashrate: null,
  hashrateAverage: null,
  hashrateExpected: null,
  algorithm: null,
  dual: null,
  proxy: null,
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

/** A board whose slot alone is known. */
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
  .describe("the setting or function that it controls; a board by its slot");
export type ControlKey = z.infer<typeof ControlKey>;

/** A setting or function that this rig offers at present. */
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
    .describe("the values of a choice; a range may accept some besides numbers (fan: auto)"),
  value: ControlValue.nullable().describe("the value that the rig reports; null if it does not"),
  lasting: z.boolean().describe("whether the value survives a restart of the rig"),
  restartsMining: z.boolean(),
  seconds: z.number().describe("seconds until the rig runs with the new value"),
});
export type Control = z.infer<typeof Control>;

/** What a rig is; null if it does not report it. */
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
