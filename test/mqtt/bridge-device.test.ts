import { afterAll, afterEach, beforeAll, describe, expect, test } from "@jest/globals";
import { pino } from "pino";
import { RigbridgeError } from "../../src/contract/problems.ts";
import { type BridgeOptions, startBridge } from "../../src/mqtt/bridge.ts";
import { MqttSettings } from "../../src/mqtt/index.ts";
import { kinds, type Opened } from "../contract/kinds.ts";
import { quick } from "./bridged.ts";
import { checkDevice } from "./home-assistant-checker.ts";
import { type Mosquitto, type Received, type Subscriber, startMosquitto, subscribeAt } from "./mosquitto.ts";

const config = "homeassistant/device/rigbridge_bridge/config";
const json = ({ payload }: Received) => JSON.parse(payload);

let mosquitto: Mosquitto;
let opened: Opened;
beforeAll(async () => {
  const [kind] = kinds;
  if (kind === undefined) throw new Error("there is no service");
  [mosquitto, opened] = await Promise.all([startMosquitto(), kind.open()]);
});
afterAll(async () => {
  await opened.close();
  await mosquitto.stop();
});

const cleanup: (() => unknown)[] = [];
afterEach(async () => {
  for (const close of cleanup.splice(0).toReversed()) await close();
});

/** A bridge with a base of its own, and who listens to it. */
async function bridged(base: string, options: Partial<BridgeOptions> & { readonly requests?: boolean } = {}) {
  const { requests = true, ...more } = options;
  const log = pino({ level: "warn" }, { write: () => undefined });
  const listener: Subscriber = await subscribeAt(mosquitto.url);
  cleanup.push(() => listener.close());
  const settings = {
    ...MqttSettings.parse({ url: mosquitto.url, base, clientId: base, requests }),
    url: mosquitto.url,
  };
  const bridge = await startBridge({
    service: opened.service,
    settings,
    log,
    version: "1.2.3",
    unitsFile: null,
    reconnectDelays: quick,
    ...more,
  });
  cleanup.push(() => bridge.close());
  const announced = await listener.until(
    ({ topic, payload }) => topic === config.replace("rigbridge_", `${base}_`) && payload !== "",
  );
  const ask = async (topic: string, payload: string) => {
    const from = listener.received.length;
    await listener.publish(`${base}/bridge/${topic}`, payload);
    return json(await listener.until((heard) => heard.topic === `${base}/bridge/response`, from));
  };
  return { listener, log, announced, ask, bridge };
}

describe("the device of the bridge", () => {
  test("shows its version and connection, and is valid", async () => {
    const { announced, listener, bridge } = await bridged("shown", { restart: async () => () => undefined });
    expect(checkDevice(announced.topic, announced.payload)).toEqual([]);
    const { device, components } = json(announced);
    expect(device).toMatchObject({ identifiers: ["shown_bridge"], name: "Rigbridge", sw_version: "1.2.3" });
    expect(Object.keys(components)).toEqual(["connection", "version", "log_level", "restart"]);
    // Not unavailable while the bridge is, since it shows just that.
    expect(components.connection).toMatchObject({ state_topic: "shown/bridge/state", availability: [] });
    const info = await listener.until(({ topic }) => topic === "shown/bridge/info");
    expect(json(info)).toMatchObject({ version: "1.2.3", log_level: "warn" });
    await bridge.close();
    await listener.until(({ topic, payload }) => topic === "shown/bridge/state" && payload === "offline");
  });

  test("sets the log level of the running process", async () => {
    const { ask, log, listener, announced } = await bridged("logged");
    expect(json(announced).components.log_level.options).toContain("debug");
    const from = listener.received.length;
    expect(await ask("log_level/set", "Debug")).toMatchObject({ status: "ok", data: { log_level: "debug" } });
    expect(log.isLevelEnabled("debug")).toBe(true);
    const info = await listener.until(({ topic }) => topic === "logged/bridge/info", from);
    expect(json(info).log_level).toBe("debug");
    expect(await ask("log_level/set", '{"value": "loud", "transaction": 3}')).toMatchObject({
      status: "error",
      code: "input.invalid",
      transaction: 3,
      error: "log_level: must be one of trace, debug, info, warn, error, fatal, silent",
    });
    expect(log.level).toBe("debug");
  });

  test("restarts what can be restarted, once it has answered", async () => {
    const restarted = Promise.withResolvers<void>();
    const { ask } = await bridged("restarted", { restart: async () => () => restarted.resolve() });
    expect(await ask("action", "stop")).toMatchObject({ status: "error", error: "action: must be restart" });
    expect(await ask("action", "RESTART")).toMatchObject({ status: "ok", data: { state: "sent" } });
    await restarted.promise;
  });

  test("answers why it does not restart", async () => {
    const restart = () => Promise.reject(new RigbridgeError("config.invalid", "The configuration has mistakes"));
    const { ask } = await bridged("mistaken", { restart });
    expect(await ask("action", "restart")).toMatchObject({ code: "config.invalid", error: /mistakes/ });
  });

  test("offers no restart where the program cannot be restarted", async () => {
    const { ask, announced } = await bridged("unable");
    expect(Object.keys(json(announced).components)).toEqual(["connection", "version", "log_level"]);
    expect(await ask("action", "restart")).toMatchObject({ error: "action: is not offered by this bridge" });
  });

  test("only shows what it is where requests are off", async () => {
    const restart = async () => () => undefined;
    const { announced, listener, log } = await bridged("closed", { restart, requests: false });
    expect(Object.keys(json(announced).components)).toEqual(["connection", "version"]);
    await listener.publish("closed/bridge/log_level/set", "debug");
    // A command that is answered after it.
    const from = listener.received.length;
    await listener.publish("closed/miner/none/set", "{}");
    await listener.until(({ topic }) => topic === "closed/miner/none/response", from);
    expect(log.level).toBe("warn");
  });
});

test("the birth message is expected at its own topic, whatever the prefix", async () => {
  const listener = await subscribeAt(mosquitto.url);
  cleanup.push(() => listener.close());
  const start = async (base: string, homeAssistant: object): Promise<void> => {
    const wanted = { url: mosquitto.url, base, clientId: base, homeAssistant };
    const bridge = await startBridge({
      settings: { ...MqttSettings.parse(wanted), url: mosquitto.url },
      service: opened.service,
      log: pino({ level: "silent" }),
      version: "1.2.3",
      unitsFile: null,
    });
    cleanup.push(() => bridge.close());
    await listener.until(({ topic }) => topic === `ha/device/${base}_farm/config`);
  };
  await start("usual", { prefix: "ha" });
  await start("special", { prefix: "ha", birthTopic: "my home/born" });
  const from = listener.received.length;
  await listener.publish("homeassistant/status", "online");
  await listener.until(({ topic }) => topic === "usual/bridge/info", from);
  const later = listener.received.length;
  await listener.publish("my home/born", "online");
  await listener.until(({ topic }) => topic === "special/bridge/info", later);
  expect(listener.received.slice(from, later).some(({ topic }) => topic === "special/bridge/info")).toBe(false);
});
