import { z } from "zod";
import { naming } from "./form-kind.ts";
import { HttpHeaders, WebAddress } from "./http-request.ts";
import { Line } from "./line.ts";
import { secret } from "./secrets.ts";
import { JsonPath, Topic } from "./topic.ts";

/** Devices of the building: PDUs, meters, sensors, fans and coolers. Source: docs/facility.md. */
export const facilityKinds = ["pdu", "meter", "sensor", "fan", "cooler"] as const;
export type FacilityKind = (typeof facilityKinds)[number];

/** What a device measures. */
export const facilityQuantities = ["power", "energy", "voltage", "current", "temperature"] as const;
export type FacilityQuantity = (typeof facilityQuantities)[number];

/** Meters whose registers are known: src/link/facility/presets.ts. */
export const meterPresets = ["sdm630", "abb-b", "abb-m4m", "iem3000", "p3u30", "janitza-b", "em24"] as const;
export type MeterPreset = (typeof meterPresets)[number];

/** PDUs whose OIDs are known: src/link/facility/presets.ts. */
export const pduPresets = ["raritan-px", "apc-rpdu", "eaton-epdu", "sentry4"] as const;
export type PduPreset = (typeof pduPresets)[number];

const rigName = Line(200).min(1);
const seconds = z.number().min(0).max(86_400);
const password = z.string().max(200);

const device = {
  key: z
    .string()
    .regex(/^[a-z0-9](?:[a-z0-9_-]{0,62}[a-z0-9])?$/, "must be 1 to 64 characters of a-z, 0-9, - and _")
    .describe("name of the device in the API and in topics; unique"),
  name: Line(100).min(1).optional().describe("name for people; absent = the key"),
  kind: z.enum(facilityKinds).describe("what it is"),
  place: z.array(Line(100).min(1)).min(1).max(8).optional().describe("where it is, from the site down"),
  interval: z.number().min(2).max(3600).default(10).describe("seconds between two reads"),
  groups: z
    .array(naming("group", rigName))
    .max(1000)
    .optional()
    .describe("groups whose rigs a meter measures or a fan cools"),
  miners: z
    .array(naming("miner", rigName))
    .max(10_000)
    .optional()
    .describe("names or uids of further rigs that a meter measures or a fan cools"),
  offDelay: seconds
    .optional()
    .describe("seconds after the last rig has stopped until the fan stops; absent = it stays on"),
  startDelay: z
    .number()
    .min(0)
    .max(30)
    .default(10)
    .describe("seconds between a fan that has confirmed that it runs and the first rig"),
};

const address = z.string().min(1).max(300);

const scale = z
  .number()
  .refine((factor) => factor !== 0, "must not be 0")
  .default(1);

/** Where a number is in a Modbus device, and how it is written. */
export const registerPlace = {
  address: z.int().min(0).max(65_535).describe("as on the wire: 40001 is 0"),
  type: z
    .enum(["u16", "s16", "u32", "s32", "u64", "s64", "f32", "f64"])
    .default("f32")
    .describe("type of the number; coils and discrete inputs have none"),
  order: z
    .enum(["abcd", "cdab", "badc", "dcba"])
    .default("abcd")
    .describe("order of the bytes: abcd = as Modbus says, cdab = low word first"),
  scale: scale.describe("factor to the unit of the number"),
};

/** A register of a Modbus device, or a bit of one. */
export const ModbusRegister = z
  .strictObject({
    reading: z.enum([...facilityQuantities, "on"]).describe("what it holds"),
    table: z.enum(["input", "holding", "coil", "discrete"]).default("holding").describe("which table it is in"),
    ...registerPlace,
    scale: scale.describe("factor to W, kWh, V, A or °C"),
    bit: z.int().min(0).max(15).optional().describe("for on: the bit that says so; absent = any number but 0"),
    min: z.number().optional().describe("lowest plausible value, after the scale"),
    max: z.number().optional().describe("highest plausible value, after the scale"),
  })
  .refine(({ min, max }) => min === undefined || max === undefined || min < max, {
    path: ["max"],
    error: "must be above min",
  });
export type ModbusRegister = z.infer<typeof ModbusRegister>;

const ModbusSwitch = z.strictObject({
  table: z.enum(["coil", "holding"]).default("coil").describe("which table it is in"),
  address: z.int().min(0).max(65_535).describe("as on the wire: 40001 is 0"),
  on: z.int().min(0).max(65_535).default(1).describe("value that switches it on"),
  off: z.int().min(0).max(65_535).default(0).describe("value that switches it off"),
});
export type ModbusSwitch = z.infer<typeof ModbusSwitch>;

const ModbusDevice = z
  .strictObject({
    driver: z.literal("modbus").describe("Modbus over TCP"),
    ...device,
    address: address.describe("host or host:port; port 502 if none is given"),
    unit: z.int().min(0).max(255).default(1).describe("unit id, behind a gateway that of the device"),
    preset: z.enum(meterPresets).optional().describe("a meter whose registers are known"),
    registers: z
      .array(ModbusRegister)
      .max(32)
      .default([])
      .describe("further registers, which replace those of the preset with the same reading"),
    run: ModbusSwitch.optional().describe("what switches a fan"),
  })
  .refine(({ preset, registers, run }) => preset !== undefined || registers.length > 0 || run !== undefined, {
    path: ["registers"],
    error: "is empty, and there is no preset: the device has nothing to read",
  });
export type ModbusDevice = z.infer<typeof ModbusDevice>;

const Oid = z
  .string()
  .max(300)
  .regex(/^\.?\d+(?:\.\d+)+$/, "must be an OID in numbers, such as 1.3.6.1.2.1.1.3.0");

const SnmpOid = z.strictObject({
  reading: z.enum(facilityQuantities).describe("what it holds"),
  oid: Oid.describe("OID with its index"),
  scale: z
    .number()
    .refine((scale) => scale !== 0, "must not be 0")
    .default(1)
    .describe("factor to W, kWh, V, A or °C"),
  min: z.number().optional().describe("lowest plausible value, after the scale"),
  max: z.number().optional().describe("highest plausible value, after the scale"),
});
export type SnmpOid = z.infer<typeof SnmpOid>;

export const Outlet = z.strictObject({
  n: z.int().min(1).max(256).describe("number of the outlet, as on the PDU"),
  miner: naming("miner", rigName)
    .optional()
    .describe("name or uid of the rig that it supplies; without it, it is never switched"),
  cutPower: z
    .boolean()
    .default(true)
    .describe("stop and start the rig with its outlet if there is no other way to stop it"),
  delay: z
    .number()
    .min(0)
    .max(45)
    .default(10)
    .describe("seconds between stopping the rig and cutting its power, for it to cool down"),
});
export type Outlet = z.infer<typeof Outlet>;

const SnmpDevice = z
  .strictObject({
    driver: z.literal("snmp").describe("SNMP"),
    ...device,
    address: address.describe("host or host:port; port 161 if none is given"),
    version: z.enum(["3", "2c"]).default("3").describe("3 = with authentication and encryption; 2c = without either"),
    username: z.string().min(1).max(64).optional().describe("user of SNMP v3"),
    authProtocol: z.enum(["sha", "sha256", "sha512", "md5"]).default("sha").describe("authentication of SNMP v3"),
    authPassword: secret(password.min(8).optional()).describe("password for the authentication of SNMP v3"),
    privProtocol: z.enum(["aes", "aes256", "des"]).default("aes").describe("encryption of SNMP v3"),
    privPassword: secret(password.min(8).optional()).describe("password for the encryption of SNMP v3"),
    community: secret(password.min(1).optional()).describe("community of SNMP v2c for reading"),
    writeCommunity: secret(password.min(1).optional()).describe(
      "community of SNMP v2c for switching, which anyone on the network can read; absent = outlets are only read",
    ),
    preset: z.enum(pduPresets).optional().describe("a PDU whose OIDs are known"),
    oids: z
      .array(SnmpOid)
      .max(32)
      .default([])
      .describe("further OIDs, which replace those of the preset with the same reading"),
    outlets: z.array(Outlet).max(256).default([]).describe("outlets that are read, and switched if they name a rig"),
  })
  .refine(
    ({ version, username, authPassword, privPassword }) =>
      version === "2c" || (username !== undefined && authPassword !== undefined && privPassword !== undefined),
    {
      path: ["username"],
      error: "is needed by SNMP v3, as are authPassword and privPassword",
    },
  )
  .refine(({ version, community }) => version === "3" || community !== undefined, {
    path: ["community"],
    error: "is needed by SNMP v2c",
  })
  .refine(({ preset, oids }) => preset !== undefined || oids.length > 0, {
    path: ["oids"],
    error: "is empty, and there is no preset: the device has nothing to read",
  })
  .refine(({ preset, outlets }) => preset !== undefined || outlets.length === 0, {
    path: ["outlets"],
    error: "needs a preset, which says how outlets are switched",
  });
export type SnmpDevice = z.infer<typeof SnmpDevice>;

const ShellyDevice = z.strictObject({
  driver: z.literal("shelly").describe("the HTTP API of Shelly"),
  ...device,
  address: address.describe("host, host:port or http(s)://host:port"),
  channel: z.int().min(0).max(15).default(0).describe("the meter or output, counted from 0"),
  username: z.string().max(200).optional().describe("user name for the device; absent = admin"),
  password: secret(password.optional()).describe("password for the device"),
});
export type ShellyDevice = z.infer<typeof ShellyDevice>;

const TopicValue = z.strictObject({
  topic: Topic.describe("the MQTT topic"),
  path: JsonPath.optional().describe(
    "path of the value in the JSON payload, like ENERGY.Power; absent = the whole payload",
  ),
});
export type TopicValue = z.infer<typeof TopicValue>;
const payload = z.string().min(1).max(1000);

const MqttDevice = z
  .strictObject({
    driver: z.literal("mqtt").describe("MQTT, over the broker of the MQTT bridge"),
    ...device,
    topics: z
      .strictObject({
        power: TopicValue.optional().describe("power in W"),
        energy: TopicValue.optional().describe("energy counter in kWh"),
        voltage: TopicValue.optional().describe("voltage in V"),
        current: TopicValue.optional().describe("current in A"),
        temperature: TopicValue.optional().describe("temperature in °C"),
        state: TopicValue.optional().describe("whether it is on"),
        set: Topic.optional().describe("topic that switches a fan"),
      })
      .describe("the topics of the device"),
    payloads: z
      .strictObject({
        on: payload.default("ON").describe("payload that switches it on"),
        off: payload.default("OFF").describe("payload that switches it off"),
      })
      .prefault({})
      .describe("payloads of the device"),
  })
  .refine(({ topics: { set: _, ...values } }) => Object.values(values).some((value) => value !== undefined), {
    path: ["topics"],
    error: "has no topic with a reading",
  })
  .refine(({ topics }) => topics.set === undefined || topics.state !== undefined, {
    path: ["topics", "state"],
    error: "is needed beside set: a fan counts as running once it reports that",
  });
export type MqttDevice = z.infer<typeof MqttDevice>;

const HttpJsonDevice = z
  .strictObject({
    driver: z.literal("http-json").describe("a web address that answers with JSON"),
    ...device,
    url: WebAddress.describe("web address that answers with JSON"),
    headers: HttpHeaders.default({}).describe(
      "headers of the request, such as Authorization: Bearer and a token; kept secret",
    ),
    paths: z
      .strictObject({
        power: JsonPath.optional().describe("power in W"),
        energy: JsonPath.optional().describe("energy counter in kWh"),
        voltage: JsonPath.optional().describe("voltage in V"),
        current: JsonPath.optional().describe("current in A"),
        temperature: JsonPath.optional().describe("temperature in °C"),
        on: JsonPath.optional().describe("whether it is on"),
      })
      .describe("paths of the readings in the JSON, such as sensors.0.value"),
  })
  .refine(({ paths }) => Object.values(paths).some((path) => path !== undefined), {
    path: ["paths"],
    error: "has no path of a reading",
  });
export type HttpJsonDevice = z.infer<typeof HttpJsonDevice>;

const AnyDevice = z.discriminatedUnion("driver", [ModbusDevice, SnmpDevice, ShellyDevice, MqttDevice, HttpJsonDevice]);
export type FacilityDevice = z.infer<typeof AnyDevice>;

/** Whether a device can be switched as a fan. */
export const canRun = (settings: FacilityDevice): boolean =>
  settings.driver === "shelly" ||
  (settings.driver === "modbus" && settings.run !== undefined) ||
  (settings.driver === "mqtt" && settings.topics.set !== undefined);

const coversRigs = ({ groups, miners }: FacilityDevice): boolean =>
  (groups?.length ?? 0) > 0 || (miners?.length ?? 0) > 0;

export const FacilityDevice = AnyDevice.superRefine((settings, context) => {
  const refuse = (path: string, message: string): void => context.addIssue({ code: "custom", path: [path], message });
  const { kind } = settings;
  if (settings.driver === "snmp" && settings.outlets.length > 0 && kind !== "pdu")
    refuse("outlets", "belongs to a device of the kind pdu");
  if (coversRigs(settings) && kind !== "meter" && kind !== "pdu" && kind !== "fan")
    refuse(settings.groups === undefined ? "miners" : "groups", "belongs to a meter, a pdu or a fan");
  if (kind !== "fan") {
    if (settings.offDelay !== undefined) refuse("offDelay", "belongs to a device of the kind fan");
    if (settings.driver === "modbus" && settings.run !== undefined)
      refuse("run", "belongs to a device of the kind fan");
    if (settings.driver === "mqtt" && settings.topics.set !== undefined)
      refuse("topics", "can have set only for a device of the kind fan");
  } else if (coversRigs(settings) && !canRun(settings))
    refuse("driver", "cannot switch a fan with these settings, so no rigs can depend on it");
});

export const Facility = z.array(FacilityDevice).max(500).default([]);
export type Facility = z.infer<typeof Facility>;
