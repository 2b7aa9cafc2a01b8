import { createServer, type Socket } from "node:net";
import { afterEach, expect, test } from "@jest/globals";
import { MqttSettings } from "../../src/config/mqtt.ts";
import { findTopics, numbersIn } from "../../src/mqtt/find-topics.ts";
import { tryBroker } from "../../src/mqtt/trial.ts";
import { onTestFinished } from "../finished.ts";
import { limits } from "../until.ts";
import { type Mosquitto, startMosquitto, subscribeAt } from "./mosquitto.ts";

// depends on: mosquitto

let broker: Mosquitto | undefined;
afterEach(async () => {
  await broker?.stop();
  broker = undefined;
});

const tried = async (settings: object, signal = AbortSignal.timeout(limits.waitMs)) =>
  (await tryBroker(MqttSettings.parse(settings), signal)).map(
    ({ ok, message }) => `${ok === null ? "?" : ok ? "+" : "-"} ${message}`,
  );

const login = { username: "rig", password: "the-right-word" };

test("a broker says its name and version, and whether Home Assistant is there", async () => {
  broker = await startMosquitto({ users: { rig: login.password } });
  const at = `127.0.0.1:${broker.port}`;
  const [name, unknown] = await tried({ url: broker.url, ...login });
  expect(name).toMatch(
    new RegExp(`^\\+ The broker at ${at} \\(mosquitto version [\\d.]+\\) accepts this login with MQTT 5$`),
  );
  expect(unknown).toBe(
    "? Home Assistant keeps no state at homeassistant/status; it shows the rigs once its MQTT integration uses this broker",
  );
  const other = await subscribeAt(broker.url, ["none"], login);
  for (const [state, mark] of [
    ["online", "+"],
    ["offline", "-"],
  ] as const) {
    await other.publish("homeassistant/status", state, { retain: true });
    expect((await tried({ url: broker.url, ...login }))[1]).toMatch(`${mark} Home Assistant is `);
  }
  await other.close();
  expect((await tried({ url: broker.url, ...login, homeAssistant: false }))[1]).toBe(
    "? Home Assistant is told of no rigs",
  );
  const [refused, ...more] = await tried({ url: broker.url, ...login, password: "a-wrong-word" });
  expect(refused).toBe(
    `- The broker at ${at} refuses the username and password; check mqtt.username and mqtt.password`,
  );
  expect(more).toEqual([]);
});

test("what is no broker, accepts and closes, says nothing, or is not there is named", async () => {
  const sockets: Socket[] = [];
  const server = createServer((socket) => {
    sockets.push(socket);
    if (!isSilent) socket.end();
  });
  let isSilent = false;
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  onTestFinished(async () => {
    for (const socket of sockets) socket.destroy();
    await new Promise((resolve) => server.close(resolve));
  });
  const address = server.address();
  const port = typeof address === "object" && address !== null ? address.port : 0;
  const url = `mqtt://127.0.0.1:${port}`;
  expect(await tried({ url })).toEqual([
    expect.stringMatching(/^- The broker at .* closes the connection without a reason/),
  ]);
  isSilent = true;
  expect(await tried({ url }, AbortSignal.timeout(500))).toEqual([
    `- The broker at 127.0.0.1:${port} did not answer in time`,
  ]);
  expect(await tried({ url: "mqtt://127.0.0.1:1" })).toEqual([
    "- No broker answers at 127.0.0.1:1 (connection refused)",
  ]);
  expect(await tried({ url: "mqtts://127.0.0.1:1", ca: "/none.pem" })).toEqual([
    expect.stringContaining("/none.pem cannot be read (ENOENT)"),
  ]);
  expect(await tried({ broker: "embedded" })).toEqual([expect.stringMatching(/^\? The broker inside Rigbridge/)]);
});

test("topics with numbers are found, without Rigbridge's own and those of discovery", async () => {
  broker = await startMosquitto();
  const device = await subscribeAt(broker.url, ["none"]);
  const retained = {
    "bath/climate": '{"temperature":17.5,"state":"ON"}',
    "attic/temperature": "21.5 °C",
    "bath/name": "Bath 2",
    "rigbridge/miner/1/power": "12",
    "homeassistant/sensor/x/config": '{"expire_after":5}',
  };
  for (const [topic, payload] of Object.entries(retained)) await device.publish(topic, payload, { retain: true });
  const signal = AbortSignal.timeout(limits.waitMs);
  expect(await findTopics(MqttSettings.parse({ url: broker.url }), signal)).toEqual([
    { topic: "attic/temperature", numbers: [{ path: null, value: 21.5 }] },
    { topic: "bath/climate", numbers: [{ path: "temperature", value: 17.5 }] },
  ]);
  await device.close();
  await expect(findTopics(MqttSettings.parse({ url: "mqtt://127.0.0.1:1" }), signal)).rejects.toThrow(
    "No broker answers",
  );
  expect(numbersIn('{"a":{"b":[1]},"c.d":2}')).toEqual([{ path: "a.b.0", value: 1 }]);
  expect(numbersIn("off")).toEqual([]);
});
