import { isIP } from "node:net";
import { z } from "zod";
import { asked } from "../contract/form-kind.ts";
import { secret } from "../contract/secrets.ts";
import { Topic, TopicFilter } from "../contract/topic.ts";

/** Topic levels that brokers and Home Assistant accept. */
const level = z.string().regex(/^[A-Za-z0-9_-]{1,64}$/, "must be 1 to 64 characters of A-Z, a-z, 0-9, _ and -");
const levels = z
  .string()
  .max(200)
  .regex(/^[A-Za-z0-9_-]+(\/[A-Za-z0-9_-]+)*$/, "must be levels of A-Z, a-z, 0-9, _ and -, separated by /");
const file = z.string().min(1).max(1000);

export const HomeAssistantSettings = z.strictObject({
  prefix: levels.default("homeassistant").describe("Home Assistant's discovery prefix"),
  birthTopic: Topic.default("homeassistant/status").describe("where Home Assistant publishes that it has started"),
  components: z
    .enum(["device", "single"])
    .default("device")
    .describe(
      "device = one discovery message for each device; single = one for each entity, as other programs need it",
    ),
  groups: z.array(z.string().min(1).max(200)).optional().describe("publish only miners of these groups; absent = all"),
  miners: z
    .boolean()
    .optional()
    .describe("publish a device for each miner; absent = up to 100 miners, beyond that no further ones"),
  detail: z
    .enum(["usual", "all"])
    .default("usual")
    .describe("all = fans, boards and shares are enabled from the start"),
  farmName: z.string().min(1).max(200).default("Mining farm").describe("name of the device of the whole farm"),
});

export const MqttSettings = z
  .strictObject({
    url: asked(
      "line",
      z
        .string()
        .max(300)
        .regex(
          /^(mqtt|mqtts|ws|wss):\/\/[^\s/]+(\/.*)?$/,
          "must be like mqtt://192.168.1.2:1883; mqtts, ws and wss work too",
        )
        .refine(
          (url) => URL.canParse(url) && new URL(url).password === "",
          "must not contain a password; set mqtt.password instead",
        ),
    )
      .optional()
      .describe("URL of the broker"),
    broker: z
      .union([
        z.literal("embedded"),
        z.strictObject({
          host: z.string().min(1).max(253).default("127.0.0.1").describe("address to listen on; 0.0.0.0 = all"),
          port: z.int().min(0).max(65535).default(1883).describe("port to listen on; 0 = any free one"),
        }),
      ])
      .optional()
      .describe("broker inside Rigbridge: embedded = on loopback; with a host beyond loopback it requires a password"),
    clientId: level.default("rigbridge").describe("client id at the broker, different for each bridge"),
    username: z
      .string()
      .min(1)
      .max(200)
      .optional()
      .describe("user name at the broker; the only one that the embedded broker accepts"),
    password: secret(z.string().max(1000).optional()).describe("password at the broker"),
    ca: file
      .optional()
      .describe("file with the certificate of the authority that signed the broker's certificate (PEM)"),
    cert: file.optional().describe("file with the client certificate (PEM)"),
    key: file.optional().describe("file with the key of the client certificate (PEM)"),
    base: levels.default("rigbridge").describe("first levels of every topic"),
    qos: z
      .union([z.literal(0), z.literal(1)])
      .default(0)
      .describe("QoS of readings; commands and discovery use 1"),
    interval: z.number().min(1).max(3600).default(10).describe("minimum seconds between two readings of a miner"),
    plugTopics: z
      .array(TopicFilter)
      .max(1000)
      .default([])
      .describe(
        "topics at which plugs declared over the API may be switched, such as zigbee2mqtt/+/set; " +
          "a topic without + and # includes all topics below it; absent = none",
      ),
    requests: z
      .boolean()
      .default(true)
      .describe("accept every API operation at bridge/request; false = only commands to miners and groups"),
    curtailment: z
      .boolean()
      .default(false)
      .describe("accept commands for curtailments at curtailment/set, and announce them to Home Assistant"),
    responseTopics: z
      .array(TopicFilter.refine((filter) => filter !== "#", "must not match every topic"))
      .max(100)
      .default([])
      .describe(
        "topics outside base that requests may name for their response, with all topics below them; + = any one level",
      ),
    homeAssistant: z
      .union([z.boolean(), HomeAssistantSettings])
      .default(true)
      .describe("announce rigs to Home Assistant automatically"),
  })
  .check((context) => {
    const { url, broker, cert, key, username, password } = context.value;
    const report = (path: string, message: string) =>
      context.issues.push({ code: "custom", input: context.value, path: [path], message });
    if (url === undefined && broker === undefined) report("url", "is required, unless broker: embedded is set");
    if (url !== undefined && broker !== undefined)
      report("broker", "cannot be combined with url; remove one of the two");
    if (cert === undefined && key !== undefined) report("cert", "is required with key");
    if (cert !== undefined && key === undefined) report("key", "is required with cert");
    if (password !== undefined && username === undefined) report("username", "is required with password");
    if (typeof broker === "object" && !isLoopback(broker.host) && password === undefined)
      report("broker", "needs username and password to listen beyond loopback");
  });
export type MqttSettings = z.infer<typeof MqttSettings>;
export type HomeAssistantSettings = z.infer<typeof HomeAssistantSettings>;

/** The settings of Home Assistant; the defaults where only true or false is set. */
export const homeAssistantSettings = ({ homeAssistant }: Pick<MqttSettings, "homeAssistant">): HomeAssistantSettings =>
  typeof homeAssistant === "object" ? homeAssistant : HomeAssistantSettings.parse({});

export const isLoopback = (host: string): boolean =>
  host === "localhost" || host === "::1" || (isIP(host) === 4 && host.startsWith("127."));
