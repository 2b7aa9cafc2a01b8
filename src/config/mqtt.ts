import { z } from "zod";
import { secret } from "../contract/secrets.ts";
import { TopicFilter } from "../contract/topic.ts";

/** Topic levels as brokers and Home Assistant take them. */
const level = z.string().regex(/^[A-Za-z0-9_-]{1,64}$/, "A-Z, a-z, 0-9, _ and -");
const levels = z
  .string()
  .max(200)
  .regex(/^[A-Za-z0-9_-]+(\/[A-Za-z0-9_-]+)*$/, "levels of A-Z, a-z, 0-9, _ and -, with / between them");
const file = z.string().min(1).max(1000);

export const HomeAssistantSettings = z.strictObject({
  prefix: levels.default("homeassistant").describe("Home Assistant's discovery prefix"),
  groups: z.array(z.string().min(1).max(200)).optional().describe("only miners of these groups; absent = all"),
  miners: z
    .boolean()
    .optional()
    .describe("a device for each miner; absent = up to 100 miners, beyond that only groups and the farm"),
  detail: z
    .enum(["usual", "all"])
    .default("usual")
    .describe("all = fans, boards and shares are switched on from the start"),
});

export const MqttSettings = z
  .strictObject({
    url: z
      .string()
      .max(300)
      .regex(/^(mqtt|mqtts|ws|wss):\/\/[^\s/]+(\/.*)?$/, "like mqtt://192.168.1.2:1883; mqtts, ws and wss too")
      .refine((url) => URL.canParse(url) && new URL(url).password === "", "holds a password; give it as mqtt.password")
      .optional()
      .describe("the broker"),
    broker: z
      .union([
        z.literal("embedded"),
        z.strictObject({
          host: z.string().min(1).max(253).default("127.0.0.1").describe("address to listen on; 0.0.0.0 = all"),
          port: z.int().min(0).max(65535).default(1883).describe("port to listen on; 0 = any free one"),
        }),
      ])
      .optional()
      .describe(
        "a broker inside Rigbridge: embedded = on loopback; with a host for others too, once a password is set",
      ),
    clientId: level.default("rigbridge").describe("tells this bridge from another at the same broker"),
    username: z.string().min(1).max(200).optional().describe("at the broker; the embedded one lets in only this"),
    password: secret(z.string().max(1000).optional()).describe("its password"),
    ca: file.optional().describe("file with the certificate that the broker's is signed by (PEM)"),
    cert: file.optional().describe("file with a certificate of our own (PEM)"),
    key: file.optional().describe("file with its key (PEM)"),
    base: levels.default("rigbridge").describe("first levels of every topic"),
    qos: z
      .union([z.literal(0), z.literal(1)])
      .default(0)
      .describe("of readings; commands and discovery have 1"),
    interval: z.number().min(1).max(3600).default(10).describe("seconds between two readings of a miner, at least"),
    plugTopics: z
      .array(TopicFilter)
      .max(1000)
      .default([])
      .describe(
        "topics at which plugs may be switched that are declared over the API, like zigbee2mqtt/+/set; " +
          "one without + and # allows all topics below it too; absent = none",
      ),
    requests: z
      .boolean()
      .default(true)
      .describe("every operation of the API at bridge/request; false = only commands to miners and groups"),
    responseTopics: z
      .array(TopicFilter.refine((filter) => filter !== "#", "would be every topic"))
      .max(100)
      .default([])
      .describe("topics outside base where a sender may want its answer, with all below them; + = any one level"),
    homeAssistant: z
      .union([z.boolean(), HomeAssistantSettings])
      .default(true)
      .describe("rigs show up in Home Assistant by themselves"),
  })
  .check((context) => {
    const { url, broker, cert, key, username, password } = context.value;
    const say = (path: string, message: string) =>
      context.issues.push({ code: "custom", input: context.value, path: [path], message });
    if (url === undefined && broker === undefined) say("url", "is needed, or broker: embedded");
    if (url !== undefined && broker !== undefined) say("broker", "does not go with url; one of the two");
    if ((cert === undefined) !== (key === undefined)) say(cert === undefined ? "cert" : "key", "goes with the other");
    if (password !== undefined && username === undefined) say("username", "is needed for the password");
    if (typeof broker === "object" && !isLoopback(broker.host) && password === undefined)
      say("broker", "lets others in only with username and password");
  });
export type MqttSettings = z.infer<typeof MqttSettings>;
export type HomeAssistantSettings = z.infer<typeof HomeAssistantSettings>;

const isLoopback = (host: string): boolean => host === "localhost" || host === "::1" || /^127\./.test(host);
