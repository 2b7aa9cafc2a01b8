import { z } from "zod";
import { Duration } from "./duration.ts";
import { registerPlace } from "./facility-settings.ts";
import { WebAddress } from "./http-request.ts";
import { Line } from "./line.ts";
import { Weekly } from "./rule-conditions.ts";
import { secret } from "./secrets.ts";
import { Key } from "./steps.ts";
import { JsonPath, Topic } from "./topic.ts";

/** Signals of the grid, which begin, change and end the curtailment of a plan. Source: docs/signals.md. */
export const signalKinds = ["mqtt", "hook", "modbus", "contact", "openadr", "peak"] as const;
export type SignalKind = (typeof signalKinds)[number];

/** What a signal does that has sent nothing for too long. */
export const staleActions = ["curtail", "run", "hold"] as const;
export type StaleAction = (typeof staleActions)[number];

const mostWatts = 1e9;

const signal = {
  key: Key.describe("unique name of the signal"),
  name: Line(100).min(1).optional().describe("name for people; absent = the key"),
  plan: Key.describe("key of the curtailment plan that it begins, changes and ends"),
};

/** Neither has a default: what silence means is for the operator to decide. */
const freshness = {
  maxAge: Duration(1, 86_400).describe("the signal is stale if nothing was heard for longer, like 4m"),
  onStale: z
    .enum(staleActions)
    .describe(
      "what is done when it is stale: curtail begins or keeps the curtailment, run ends it, hold changes nothing",
    ),
};

const quantity = z
  .enum(["percent", "watts"])
  .describe("what its number is: percent of the power at the start that the rigs may take, or W; 0 stops them");
const runFrom = z
  .number()
  .min(0)
  .max(mostWatts)
  .optional()
  .describe("number from which there is no curtailment; absent = 100 for percent; required for watts");

const numberMistakes = (
  { quantity: unit, runFrom: from }: { readonly quantity: "percent" | "watts"; readonly runFrom?: number | undefined },
  context: z.core.$RefinementCtx,
): void => {
  if (unit === "watts" && from === undefined)
    context.addIssue({ code: "custom", path: ["runFrom"], message: "is required with quantity: watts" });
};

const MqttSignal = z
  .strictObject({
    kind: z.literal("mqtt").describe("a number on a topic of the MQTT broker"),
    ...signal,
    topic: Topic.describe("MQTT topic of the number"),
    preset: z
      .enum(["maestro"])
      .optional()
      .describe('maestro = {"target": 100, "timestamp": 1778538975} with percent, as MaestroOS publishes it'),
    path: JsonPath.optional().describe("path of the number in the JSON payload; absent = the whole payload"),
    timestamp: JsonPath.optional().describe(
      "path of its time in the JSON payload, in seconds or ms since 1970 or ISO 8601; absent = the time of reception",
    ),
    quantity: quantity.default("percent"),
    runFrom,
    ...freshness,
  })
  .superRefine(numberMistakes)
  .superRefine(({ preset, path, timestamp, quantity: unit }, context) => {
    if (preset === undefined) return;
    if (path !== undefined) context.addIssue({ code: "custom", path: ["path"], message: "is that of the preset" });
    if (timestamp !== undefined)
      context.addIssue({ code: "custom", path: ["timestamp"], message: "is that of the preset" });
    if (unit !== "percent") context.addIssue({ code: "custom", path: ["quantity"], message: "is that of the preset" });
  });
export type MqttSignal = z.infer<typeof MqttSignal>;

const hook = Key.describe("name of a web hook of hooks");

const HookSignal = z
  .strictObject({
    kind: z.literal("hook").describe("requests to an incoming web hook"),
    ...signal,
    hook,
    quantity: quantity.default("percent"),
    runFrom,
  })
  .superRefine(numberMistakes);
export type HookSignal = z.infer<typeof HookSignal>;

const modbus = {
  address: z.string().min(1).max(300).describe("host or host:port; port 502 if none is given"),
  unit: z.int().min(0).max(255).default(1).describe("unit id, behind a gateway that of the device"),
  interval: z.number().min(1).max(60).default(2).describe("seconds between two reads"),
};

const ModbusSignal = z
  .strictObject({
    kind: z.literal("modbus").describe("a register of the utility's RTU, over Modbus TCP"),
    ...signal,
    ...modbus,
    register: z
      .strictObject({
        ...registerPlace,
        table: z.enum(["input", "holding"]).default("holding").describe("which table it is in"),
        min: z.number().optional().describe("lowest plausible value, after the scale"),
        max: z.number().optional().describe("highest plausible value, after the scale"),
      })
      .describe("the register"),
    quantity,
    runFrom,
    ...freshness,
  })
  .superRefine(numberMistakes);
export type ModbusSignal = z.infer<typeof ModbusSignal>;

const ContactSignal = z.strictObject({
  kind: z.literal("contact").describe("a dry contact at a discrete input, over Modbus TCP"),
  ...signal,
  ...modbus,
  input: z.int().min(0).max(65_535).describe("number of the discrete input, as on the wire: 10001 is 0"),
  closed: z.enum(["curtail", "run"]).default("curtail").describe("what the closed contact means"),
  ...freshness,
});
export type ContactSignal = z.infer<typeof ContactSignal>;

const instant = z.iso
  .datetime({ offset: true, error: "must be a time with its zone, like 2026-07-01T15:00:00Z" })
  .max(40);

export const PeakWindow = z
  .strictObject({ from: instant.describe("when it begins"), until: instant.describe("when it ends") })
  .refine(({ from, until }) => Date.parse(from) < Date.parse(until), { path: ["until"], error: "must be after from" });
export type PeakWindow = z.infer<typeof PeakWindow>;

/** The most windows of a list. */
export const mostWindows = 1_000;

const PeakSignal = z
  .strictObject({
    kind: z.literal("peak").describe("times of expected peaks: a list, hours, or both"),
    ...signal,
    windows: z.array(PeakWindow).max(mostWindows).default([]).describe("times of peaks"),
    hours: Weekly.optional().describe("hours in which peaks are expected"),
    months: z
      .array(z.int().min(1).max(12))
      .min(1)
      .max(12)
      .optional()
      .describe("months in which the hours count, such as 6, 7, 8 and 9 for 4CP; absent = all"),
    perMonth: z.int().min(1).max(1000).optional().describe("curtailments in a month at most; absent = no limit"),
    hook: hook.optional().describe("name of a web hook of hooks that replaces the list of times"),
  })
  .superRefine(({ windows, hours, months, hook: own }, context) => {
    if (windows.length === 0 && hours === undefined && own === undefined)
      context.addIssue({
        code: "custom",
        path: ["windows"],
        message: "is empty, and there are neither hours nor a hook",
      });
    if (months !== undefined && hours === undefined)
      context.addIssue({ code: "custom", path: ["months"], message: "is only for hours" });
  });
export type PeakSignal = z.infer<typeof PeakSignal>;

const share = z.number().min(0).max(100);

const OpenAdrSignal = z
  .strictObject({
    kind: z.literal("openadr").describe("events of an OpenADR 3.1 server (VTN)"),
    ...signal,
    url: WebAddress.describe("address of the VTN, such as https://vtn.example/openadr3/3.1.0"),
    tokenUrl: WebAddress.optional().describe("address that issues tokens; absent = /auth/token below url"),
    clientId: z.string().min(1).max(4096).optional().describe("client id; absent = the VTN needs no login"),
    clientSecret: secret(z.string().min(1).max(4096).optional()).describe("client secret"),
    scope: z.string().max(4096).optional().describe("scope of the token, if the VTN asks for one"),
    program: Line(128).min(1).optional().describe("id or name of the program; absent = every program of the client"),
    levels: z
      .strictObject({
        moderate: share.describe("percent that the rigs may take at level 1"),
        high: share.describe("percent that the rigs may take at level 2"),
        emergency: share.describe("percent that the rigs may take at level 3"),
      })
      .optional()
      .describe("what the levels of SIMPLE events mean; absent = such events are refused"),
    interval: z.number().min(5).max(60).default(30).describe("seconds between two reads of the events"),
    ...freshness,
  })
  .superRefine(({ url, tokenUrl, clientId, clientSecret }, context) => {
    const refuse = (path: string, message: string): void => context.addIssue({ code: "custom", path: [path], message });
    if ((clientId === undefined) !== (clientSecret === undefined))
      refuse(clientId === undefined ? "clientId" : "clientSecret", "is required beside the other");
    for (const [path, address] of Object.entries({ url, tokenUrl }))
      if (address !== undefined && !isPrivate(address)) refuse(path, "must begin with https://, as OpenADR demands");
  });
export type OpenAdrSignal = z.infer<typeof OpenAdrSignal>;

/** Whether nobody else can read what is sent there: by TLS, or on this machine. */
function isPrivate(address: string): boolean {
  const { protocol, hostname } = URL.canParse(address) ? new URL(address) : { protocol: "", hostname: "" };
  return protocol === "https:" || hostname === "localhost" || hostname === "[::1]" || /^127\.[\d.]+$/.test(hostname);
}

export const SignalSettings = z.discriminatedUnion("kind", [
  MqttSignal,
  HookSignal,
  ModbusSignal,
  ContactSignal,
  OpenAdrSignal,
  PeakSignal,
]);
export type SignalSettings = z.infer<typeof SignalSettings>;

export const Signals = z.array(SignalSettings).max(100).default([]);
export type Signals = z.infer<typeof Signals>;
