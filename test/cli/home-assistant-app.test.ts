import { once } from "node:events";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { createServer, type RequestListener } from "node:http";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, describe, expect, test } from "@jest/globals";
import { parse } from "yaml";
import { z } from "zod";
import {
  type Broker,
  brokerOf,
  configurationOf,
  logLevelOf,
  optionsOf,
  wantsBroker,
} from "../../packaging/home-assistant/rigbridge/options.ts";
import { readConfig } from "../../src/config/index.ts";

// depends on: packaging/home-assistant/**

const app = new URL("../../packaging/home-assistant/rigbridge/", import.meta.url);
const yamlOf = (name: string): unknown => parse(readFileSync(new URL(name, app), "utf8"));
const folder = mkdtempSync(join(tmpdir(), "rigbridge-app-"));
afterAll(() => rmSync(folder, { recursive: true }));

const broker: Broker = {
  host: "core-mosquitto",
  port: 1883,
  ssl: false,
  username: "addons",
  password: `p\${HOME}$(id)`,
};

/** What the service reads from the file that the app writes. */
async function read(options: Record<string, unknown>, given: Broker | null) {
  const file = join(folder, "rigbridge.yaml");
  const text = JSON.stringify(configurationOf(optionsOf(JSON.stringify(options)), given, join(folder, "rigbridge.db")));
  writeFileSync(file, text, { mode: 0o600 });
  const { config, warnings } = await readConfig(file);
  expect(warnings).toEqual([]);
  return config;
}

describe("the options of the app of Home Assistant", () => {
  test("as they are installed make a service that only the ingress reaches, with Home Assistant's broker", async () => {
    const { options } = z.object({ options: z.record(z.string(), z.unknown()) }).parse(yamlOf("config.yaml"));
    expect([wantsBroker(options), logLevelOf(options)]).toEqual([true, "info"]);
    const { http, mqtt, miners } = await read(options, broker);
    expect(http).toMatchObject({ host: "0.0.0.0", port: 17790, ingress: "172.30.32.2", announce: false, open: false });
    expect(http.key).toBeUndefined();
    // Neither a variable nor a command is substituted.
    expect(mqtt).toMatchObject({ url: "mqtt://core-mosquitto:1883", username: "addons", password: `p\${HOME}$(id)` });
    expect(miners).toEqual([]);
  });

  test("declare a key and miners; empty fields count as absent", async () => {
    const options = {
      home_assistant_mqtt: false,
      log_level: "debug",
      api_key: `\${PATH}-0123456789`,
      miners: [
        { address: "192.168.1.50", name: "Garage", username: "", password: `$(id) \${X}` },
        { address: "192.168.1.7:8080", token: "s3cret" },
      ],
    };
    expect([wantsBroker(options), logLevelOf(options)]).toEqual([false, "debug"]);
    const { http, mqtt, miners } = await read(options, null);
    expect(http).toMatchObject({ key: `\${PATH}-0123456789`, announce: true });
    expect(mqtt).toBeUndefined();
    expect(miners).toEqual([
      { address: "192.168.1.50", name: "Garage", password: `$(id) \${X}` },
      { address: "192.168.1.7:8080", token: "s3cret" },
    ]);
  });

  test("a broker with TLS, without a login, at an IPv6 address", async () => {
    const { mqtt } = await read({}, { host: "fd00::2", port: 8883, ssl: true, username: "", password: "" });
    expect(mqtt).toMatchObject({ url: "mqtts://[fd00::2]:8883" });
    expect(mqtt?.username).toBeUndefined();
  });

  test("mistakes are left to the service, which names them", async () => {
    await expect(read({ api_key: "short" }, null)).rejects.toMatchObject({
      errors: [{ message: "needs at least 16 characters" }],
    });
    expect(() => optionsOf("[]")).toThrow("not an object");
  });
});

describe("the supervisor is asked for the broker", () => {
  const asked = async (answer: RequestListener) => {
    const server = createServer(answer).listen(0, "127.0.0.1");
    await once(server, "listening");
    const { port } = z.object({ port: z.number() }).parse(server.address());
    try {
      return await brokerOf(`http://127.0.0.1:${port}`, "a token");
    } finally {
      server.close();
    }
  };
  const json =
    (status: number, value: unknown): RequestListener =>
    (_request, response) =>
      response.writeHead(status, { "content-type": "application/json" }).end(JSON.stringify(value));

  test("with the app's token", async () => {
    const data = { ...broker, addon: "core_mosquitto", protocol: "3.1.1" };
    const answer: RequestListener = (request, response) => {
      const isRight = request.url === "/services/mqtt" && request.headers.authorization === "Bearer a token";
      json(isRight ? 200 : 403, { result: "ok", data })(request, response);
    };
    expect(await asked(answer)).toEqual(broker);
  });

  test("which is null without one; any other answer is an error", async () => {
    expect(await asked(json(400, { result: "error", message: "Service not enabled" }))).toBeNull();
    await expect(asked(json(403, { result: "error" }))).rejects.toThrow("answered 403");
    await expect(asked(json(200, { result: "ok", data: { port: 1 } }))).rejects.toThrow("no host and port");
    await expect(asked((_request, response) => response.end("<html>"))).rejects.toThrow("answered 200");
    await expect(asked((request) => request.socket.destroy())).rejects.toThrow("does not answer");
  });
});

/** Keys and values that Home Assistant documents for config.yaml of an app, as far as this one needs them. */
const Documented = z.strictObject({
  name: z.string(),
  version: z.string(),
  slug: z.string().regex(/^[-_.A-Za-z0-9]+$/),
  description: z.string(),
  url: z.url(),
  arch: z.array(z.enum(["aarch64", "amd64"])),
  startup: z.enum(["initialize", "system", "services", "application", "once"]),
  boot: z.enum(["auto", "manual", "manual_only"]),
  init: z.boolean(),
  ingress: z.boolean(),
  ingress_port: z.int(),
  ingress_stream: z.boolean(),
  panel_icon: z.string().startsWith("mdi:"),
  panel_title: z.string(),
  panel_admin: z.boolean(),
  host_network: z.boolean(),
  services: z.array(z.string().regex(/^(mqtt|mysql):(provide|want|need)$/)),
  watchdog: z.string().regex(/^(https?|tcp|\[PROTO:\w+\]):\/\/\[HOST\]:(\[PORT:\d+\]|\d+).*$/),
  backup: z.enum(["hot", "cold"]),
  options: z.record(z.string(), z.unknown()),
  schema: z.record(z.string(), z.unknown()),
});
/** The types of options: `?` = may be absent. */
const Type = z.string().regex(/^(str|bool|int|float|email|url|password|port|match\(.*\)|list\(.+\)|device)\??$/);

test("config.yaml has only documented keys; every option has a type and a text", () => {
  const { options, schema } = Documented.parse(yamlOf("config.yaml"));
  z.record(z.string(), z.union([Type, z.array(z.record(z.string(), Type))])).parse(schema);
  const required = Object.keys(schema).filter((name) => !String(schema[name]).endsWith("?"));
  expect(Object.keys(options).sort()).toEqual(required.sort());
  const texts = z.record(z.string(), z.strictObject({ name: z.string(), description: z.string() }));
  const { configuration } = z.strictObject({ configuration: texts }).parse(yamlOf("translations/en.yaml"));
  expect(Object.keys(configuration).sort()).toEqual(Object.keys(schema).sort());
});
