import { type ChildProcess, spawn, spawnSync } from "node:child_process";
import { once } from "node:events";
import { readdirSync, readFileSync } from "node:fs";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "@jest/globals";
import { Ajv } from "ajv";
import { connectAsync, type IClientOptions } from "mqtt";
import { pino } from "pino";
import { parse } from "yaml";
import { z } from "zod";
import { configSchema, readConfig } from "../../src/config/index.ts";
import { MqttSettings } from "../../src/config/mqtt.ts";
import type { Miner } from "../../src/contract/resources.ts";
import type { MiningService } from "../../src/contract/service.ts";
import { type Bridge, startBridge } from "../../src/mqtt/bridge.ts";
import { BrokerMessages } from "../../src/mqtt/messages.ts";
import { commandTopic, topicsOf } from "../../src/mqtt/topics.ts";
import { startService } from "../../src/service/index.ts";
import { type Farm, farmOf, startFarm } from "../../src/simulator/index.ts";
import { openStore, type Store } from "../../src/store/index.ts";
import { freePort } from "../free-port.ts";
import { hasProgram } from "../has-program.ts";
import { type Subscriber, subscribeAt } from "../mqtt/mosquitto.ts";
import { until, within } from "../until.ts";

// depends on: examples/home-assistant/**

const folder = new URL("../../examples/home-assistant/", import.meta.url);
const files = readdirSync(folder, { recursive: true, encoding: "utf8" }).filter((name) => /\.\w+$/.test(name));
const textOf = (name: string): string => readFileSync(new URL(name, folder), "utf8");

/** A reference to an input of a blueprint. */
const inputTag = { tag: "!input", resolve: (name: string) => ({ input: name }) };
const yamlOf = (name: string): unknown => parse(textOf(name), { customTags: [inputTag], logLevel: "error" });

/** All strings in it, without keys. */
const textsIn = (value: unknown): string[] => {
  if (typeof value === "string") return [value];
  return typeof value === "object" && value !== null ? Object.values(value).flatMap(textsIn) : [];
};

const Component = z.looseObject({
  platform: z.string(),
  default_entity_id: z.string(),
  name: z.string().nullish(),
  device_class: z.string().optional(),
  options: z.array(z.string()).optional(),
  enabled_by_default: z.boolean().optional(),
  value_template: z.string().optional(),
});
type Component = z.infer<typeof Component>;
const Device = z.object({ components: z.record(z.string(), Component) });
const State = z.record(z.string(), z.unknown());

const base = "rigbridge";
const topics = topicsOf(base);
const caller = { actor: "test" };

test.each(files.filter((name) => name.endsWith(".yaml")))("%s is YAML", (name) => {
  expect(yamlOf(name)).toEqual(expect.any(Object));
});

test("the README lists every file", () => {
  const linked = [...textOf("README.md").matchAll(/\]\(([^)#]+)/g)].map(([, file]) => file);
  expect(linked).toEqual(expect.arrayContaining(files.filter((name) => name !== "README.md")));
});

test("rigbridge.yaml is valid by the JSON Schema for editors", () => {
  const validate = new Ajv({ strict: false, validateFormats: false }).compile(configSchema());
  validate(yamlOf("rigbridge.yaml"));
  expect(validate.errors).toBeNull();
});

const conf = textOf("mosquitto.conf");
const setting = (name: string): string => new RegExp(`^${name} (.+)$`, "m").exec(conf)?.[1] ?? "";

test("compose.yaml mounts the broker's files where mosquitto.conf expects them, and exposes its port", () => {
  const Compose = z.object({
    services: z.object({
      mosquitto: z.object({ command: z.string(), ports: z.array(z.string()), volumes: z.array(z.string()) }),
    }),
    volumes: z.object({ retained: z.null() }),
  });
  const { command, ports, volumes } = Compose.parse(yamlOf("compose.yaml")).services.mosquitto;
  const inside = volumes.map((volume) => volume.split(":")[1]);
  expect(inside).toContain(command.split(" -c ")[1]);
  expect(inside).toContain(setting("password_file"));
  expect(inside.map((path) => `${path}/`)).toContain(setting("persistence_location"));
  expect(ports).toEqual([`${setting("listener")}:${setting("listener")}`]);
});

const program = ["mosquitto", "/usr/sbin/mosquitto"].find((path) => spawnSync(path, ["-h"]).error === undefined);
const isThere = hasProgram("mosquitto", program !== undefined, "the examples with a real broker");
const tried = isThere ? describe : describe.skip;

tried("on a Mosquitto with mosquitto.conf, with the virtual rigs of rigbridge.yaml", () => {
  let place: string;
  let port: number;
  let broker: ChildProcess;
  let farm: Farm;
  let store: Store;
  let service: MiningService;
  let bridge: Bridge;
  let client: Subscriber;
  let miners: Miner[];

  const enter = (options: IClientOptions) =>
    connectAsync(`mqtt://127.0.0.1:${port}`, { protocolVersion: 5, reconnectPeriod: 0, ...options }, false);
  const homeAssistant = { username: "homeassistant", password: "secret" };

  const startBroker = async (): Promise<void> => {
    broker = spawn(program ?? "", ["-c", join(place, "mosquitto.conf")], { stdio: "ignore" });
    await until(async () => {
      if (broker.exitCode !== null) throw new Error(`mosquitto has ended with ${broker.exitCode}`);
      const refusal = await enter({}).catch((error: unknown) => error);
      // A broker that refuses is running.
      return refusal instanceof Error && "code" in refusal && typeof refusal.code === "number";
    }, "the broker to refuse a client without a password");
  };
  const stopBroker = async (): Promise<void> => {
    if (broker.exitCode === null && broker.kill()) await within(once(broker, "exit"), "the broker to end");
  };

  beforeAll(async () => {
    place = await mkdtemp(join(tmpdir(), "rigbridge-example-"));
    port = await freePort();
    const passwords = join(place, "passwords");
    for (const [index, name] of ["rigbridge", "homeassistant"].entries())
      spawnSync("mosquitto_passwd", [...(index === 0 ? ["-c"] : []), "-b", passwords, name, "secret"]);
    const own = conf
      .replace(/^listener .+$/m, `listener ${port} 127.0.0.1`)
      .replaceAll(setting("password_file"), passwords)
      .replace(/^persistence_location .+$/m, `persistence_location ${place}/`);
    // Started as root it would drop the rights to read root's folder.
    await writeFile(join(place, "mosquitto.conf"), `${own}${process.getuid?.() === 0 ? "\nuser root\n" : ""}`);
    await startBroker();

    const { rigs = [] } = farmOf(3, { axeos: 1, whatsminer: 1, avalon: 1 }, { basePort: 20_001 });
    farm = await startFarm({ rigs: rigs.map(({ port: _, ...spec }) => spec) });
    store = await openStore({ file: ":memory:", now: Date.now });
    const { config } = await readConfig(new URL("rigbridge.yaml", folder).pathname, { MQTT_PASSWORD: "secret" });
    const log = pino({ level: "silent" });
    service = await startService({
      config: {
        ...config,
        poll: { ...config.poll, interval: 1 },
        miners: config.miners.map((miner) => {
          const at = Number(miner.address.split(":")[1]) - 20_001;
          return { ...miner, address: farm.rigs[at]?.address ?? "" };
        }),
      },
      store,
      log,
      messages: new BrokerMessages(Date.now),
    });
    const url = `mqtt://127.0.0.1:${port}`;
    const settings = MqttSettings.parse({ ...config.mqtt, interval: 1 });
    bridge = await startBridge({ service, settings: { ...settings, url }, log, version: "1", unitsFile: null });
    client = await subscribeAt(url, ["#"], homeAssistant);
    await until(() => {
      miners = [...(service.eachMiner?.(caller) ?? [])];
      // Energy is available from the second reading on.
      return miners.every((miner) => (stateOf(miner).energy ?? null) !== null && entitiesOf(miner).size >= 10);
    }, "every miner to be announced with its energy");
  });

  afterAll(async () => {
    await client.close();
    await bridge.close();
    await stopBroker();
    await service.close();
    await store.close();
    await farm.close();
    await rm(place, { recursive: true, force: true });
  });

  /** The last published state of a miner. */
  const stateOf = ({ uid }: Miner): Readonly<Record<string, unknown>> =>
    State.parse(JSON.parse(client.last(topics.miner(uid ?? "").state) ?? "{}"));
  const minerOf = (uid: string | null): Miner => {
    const miner = miners.find((each) => each.uid === uid);
    if (miner === undefined) throw new Error(`no miner has the uid ${uid}`);
    return miner;
  };

  /** The entities that Home Assistant creates for a miner, by id. */
  function entitiesOf({ uid }: Miner): ReadonlyMap<string, Component> {
    const announced = client.last(`homeassistant/device/rigbridge_miner_${uid}/config`);
    const { components } = announced ? Device.parse(JSON.parse(announced)) : { components: {} };
    return new Map(
      Object.values(components)
        .filter((component) => component.enabled_by_default !== false)
        .map((component) => [component.default_entity_id, component]),
    );
  }

  const isEntity = (text: string): boolean => /^[a-z_]+\.[a-z0-9_]+$/.test(text);
  const named = ["energy-dashboard.yaml", "thermostat-card.yaml"].flatMap((name) =>
    [...new Set(textsIn(yamlOf(name)).filter(isEntity))].map((entity) => [name, entity] as const),
  );

  test.each(named)("%s names %s, an announced entity with a value", (_, entity) => {
    const owner = miners.find((miner) => entitiesOf(miner).has(entity));
    expect([entity, owner?.name]).toEqual([entity, expect.any(String)]);
    if (owner === undefined) return;
    const template = String(entitiesOf(owner).get(entity)?.value_template);
    const [, field] = /value_json\.(\w+)/.exec(template) ?? [];
    if (field !== undefined) expect(stateOf(owner)[field]).not.toBeNull();
  });

  test("every energy entity is valid for the Energy dashboard", () => {
    const energies = named.map(([, entity]) => entity).filter((entity) => entity.endsWith("_energy"));
    expect(energies).toHaveLength(miners.length);
    for (const entity of energies)
      expect(miners.map((miner) => entitiesOf(miner).get(entity))).toContainEqual(
        expect.objectContaining({
          device_class: "energy",
          unit_of_measurement: "kWh",
          state_class: "total_increasing",
        }),
      );
  });

  describe("evcc.yaml", () => {
    const Plugin = z.strictObject({
      source: z.literal("mqtt"),
      topic: z.string(),
      jq: z.string().optional(),
      payload: z.string().optional(),
      timeout: z.string().optional(),
    });
    const Evcc = z.object({
      meters: z.array(z.object({ name: z.string(), power: Plugin, energy: Plugin })),
      chargers: z.array(
        z.object({ name: z.string(), type: z.literal("switchsocket"), enabled: Plugin, enable: Plugin, power: Plugin }),
      ),
      loadpoints: z.array(z.object({ charger: z.string() })),
      site: z.object({ meters: z.object({ aux: z.array(z.string()) }) }),
    });
    const { meters, chargers, loadpoints, site } = Evcc.parse(yamlOf("evcc.yaml"));

    test("reads topics and fields that a miner publishes", () => {
      const reads = [
        ...meters.flatMap(({ power, energy }) => [power, energy]),
        ...chargers.flatMap(({ power, enabled }) => [power, enabled]),
      ];
      for (const { topic, jq = "" } of reads) {
        const miner = minerOf(topic.split("/")[2] ?? "");
        expect(topic).toBe(topics.miner(miner.uid ?? "").state);
        const [, field = ""] = /^\.(\w+)/.exec(jq) ?? [];
        expect([topic, jq, stateOf(miner)[field]]).not.toEqual([topic, jq, undefined]);
      }
    });

    test("sends a valid command to a rig with a switch", () => {
      for (const { enable, enabled } of chargers) {
        const command = commandTopic(base, enable.topic);
        expect(command).toMatchObject({ kind: "set", thing: "miner", property: "mining" });
        const { controls } = minerOf(command !== null && "id" in command ? command.id : null);
        expect(controls).toContainEqual(expect.objectContaining({ key: "mining", kind: "switch" }));
        expect(enable.payload).toBe("{{if .enable}}ON{{else}}OFF{{end}}");
        expect(enabled.jq).toBe('.mining == "ON"');
      }
    });

    test("switches the rig", async () => {
      for (const { enable } of chargers) {
        const uid = enable.topic.split("/")[2] ?? "";
        const { state } = topics.miner(uid);
        await client.publish(enable.topic, "OFF");
        await client.until(({ topic, payload }) => topic === state && /"mining":"OFF"/.test(payload));
      }
    });

    test("uses every meter and charger that it declares", () => {
      expect(loadpoints.map(({ charger }) => charger)).toEqual(chargers.map(({ name }) => name));
      expect(site.meters.aux).toEqual(meters.map(({ name }) => name));
    });
  });

  describe("the blueprint", () => {
    const Blueprint = z.strictObject({
      blueprint: z.strictObject({
        name: z.string(),
        description: z.string(),
        domain: z.literal("automation"),
        homeassistant: z.strictObject({ min_version: z.string().regex(/^\d{4}\.\d{1,2}\.\d+$/) }),
        input: z.record(
          z.string(),
          z.strictObject({
            name: z.string(),
            description: z.string(),
            default: z.string().optional(),
            selector: z.record(z.enum(["entity", "select", "text"]), z.unknown()),
          }),
        ),
      }),
      mode: z.literal("single"),
      max_exceeded: z.literal("silent"),
      triggers: z.tuple([z.strictObject({ trigger: z.literal("time_pattern"), minutes: z.literal("/1") })]),
      variables: z.record(z.string(), z.strictObject({ input: z.string() })),
      conditions: z.tuple([z.strictObject({ condition: z.literal("template"), value_template: z.string() })]),
      actions: z.tuple([
        z.strictObject({
          action: z.literal("mqtt.publish"),
          data: z.strictObject({
            topic: z.string(),
            payload: z.string(),
            qos: z.literal(1),
            retain: z.literal(false),
          }),
        }),
      ]),
    });
    const { blueprint, variables, conditions, actions } = Blueprint.parse(yamlOf("surplus-to-my-miners.yaml"));
    const [{ data }] = actions;

    test("uses exactly its inputs", () => {
      const inputs = Object.keys(blueprint.input);
      expect(Object.values(variables).map(({ input }) => input)).toEqual(inputs);
      const templates = [data.topic, data.payload, ...conditions.map(({ value_template: template }) => template)];
      for (const name of Object.keys(variables)) expect(templates.join(" ")).toContain(name);
    });

    test("sends a message that a miner of the `follow` accepts", async () => {
      const miner = miners.find(({ name }) => name === "Desk");
      const uid = miner?.uid ?? "";
      const { base: levels } = blueprint.input;
      const topic = data.topic.replace("{{ base }}", levels?.default ?? "").replace("{{ miner }}", uid);
      expect(topic).toBe(topics.miner(uid).action);
      expect(commandTopic(base, topic)).toMatchObject({ kind: "action", thing: "miner", id: uid });
      await client.publish(topic, data.payload.replace(/\{\{.*?\}\}/s, "-120"), { qos: data.qos });
      const answer = await client.until((heard) => heard.topic === topics.miner(uid).response);
      expect(JSON.parse(answer.payload)).toMatchObject({ status: "ok" });
    });
  });

  describe.each(files.filter((name) => name.startsWith("blueprints/")))("%s", (name) => {
    const Filter = z.strictObject({
      integration: z.literal("mqtt"),
      domain: z.string(),
      device_class: z.string().optional(),
    });
    const Blueprint = z.looseObject({
      blueprint: z.strictObject({
        name: z.string(),
        description: z.string(),
        domain: z.literal("automation"),
        homeassistant: z.strictObject({ min_version: z.string().regex(/^\d{4}\.\d{1,2}\.\d+$/) }),
        input: z.record(
          z.string(),
          z.strictObject({
            name: z.string(),
            description: z.string(),
            default: z.unknown().optional(),
            selector: z.partialRecord(
              z.enum(["entity", "select", "number", "time", "action"]),
              z.looseObject({ filter: Filter.optional() }),
            ),
          }),
        ),
      }),
      triggers: z.array(z.looseObject({ trigger: z.string(), entity_id: z.unknown().optional() })).min(1),
      conditions: z.array(z.unknown()).min(1),
    });
    const whole = yamlOf(name);
    const { blueprint, triggers, ...automation } = Blueprint.parse(whole);
    const { input } = blueprint;

    const Reference = z.strictObject({ input: z.string() });
    /** Every object in it, outermost first. */
    const objectsIn = (value: unknown): object[] =>
      typeof value !== "object" || value === null ? [] : [value, ...Object.values(value).flatMap(objectsIn)];
    const referred = (value: unknown): string | undefined => Reference.safeParse(value).data?.input;
    const announced = (): Component[] => miners.flatMap((miner) => [...entitiesOf(miner).values()]);
    /** The announced entities that a user can choose for an input. */
    const choicesFor = (name: string): Component[] => {
      const filter = input[name]?.selector.entity?.filter;
      return announced().filter(
        ({ platform, device_class: of }) =>
          platform === filter?.domain && (filter.device_class === undefined || filter.device_class === of),
      );
    };

    test("uses exactly its inputs", () => {
      const used = objectsIn({ triggers, automation }).flatMap((value) => referred(value) ?? []);
      expect([...new Set(used)].sort()).toEqual(Object.keys(input).sort());
    });

    test("offers entities that Rigbridge announces, under their names", () => {
      const names = new Set(announced().map((component) => component.name));
      for (const [key, { description, selector }] of Object.entries(input)) {
        if (selector.entity !== undefined) expect([key, choicesFor(key).length > 0]).toEqual([key, true]);
        for (const [, quoted = ""] of description.matchAll(/"(.*?)"/g)) expect(names).toContain(quoted);
      }
    });

    test("waits for states that these entities have", () => {
      for (const trigger of triggers.filter((each) => each.trigger === "state")) {
        const entities = choicesFor(referred(trigger.entity_id) ?? "");
        const states = [trigger.from, trigger.to].flat();
        const known = entities.flatMap(({ platform, options = [] }) =>
          platform === "sensor" ? options : ["on", "off", "unavailable", "unknown"],
        );
        expect(states.length).toBeGreaterThan(1);
        expect(known).toEqual(expect.arrayContaining(states));
      }
    });

    test("calls actions of Home Assistant that suit these entities", () => {
      const services = ["switch.turn_on", "switch.turn_off", "button.press"];
      const Call = z.object({ action: z.string(), target: z.object({ entity_id: z.unknown() }).optional() });
      const calls = objectsIn(whole).flatMap((value) => Call.safeParse(value).data ?? []);
      expect(calls.length).toBeGreaterThan(0);
      for (const { action, target } of calls) {
        if (action === "persistent_notification.create") continue;
        expect(services).toContain(action);
        const chosen = referred(target?.entity_id);
        if (chosen !== undefined) expect(input[chosen]?.selector.entity?.filter?.domain).toBe(action.split(".")[0]);
        else expect(target?.entity_id).toBe("{{ trigger.entity_id }}");
      }
    });
  });

  describe("the broker", () => {
    test.each([
      ["no login", {}],
      ["a wrong password", { username: "rigbridge", password: "other" }],
      ["an unknown user", { username: "somebody", password: "secret" }],
    ])("refuses a client with %s", async (_, options) => {
      await expect(enter(options)).rejects.toThrow("Not authorized");
    });

    test("keeps retained messages across a restart", async () => {
      const before = await enter(homeAssistant);
      await before.publishAsync("kept", "for long", { qos: 1, retain: true });
      await before.endAsync();
      await stopBroker();
      await startBroker();
      const after = await enter(homeAssistant);
      const heard = new Promise((resolve) => after.once("message", (_, payload) => resolve(payload.toString())));
      await after.subscribeAsync("kept");
      expect(await within(heard, "the retained message")).toBe("for long");
      await after.endAsync();
    });
  });
});
