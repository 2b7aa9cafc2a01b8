import { expect, test } from "@jest/globals";
import { findBrokers } from "../../src/discovery/index.ts";
import { listensMs, responder, testWithMulticast, udpPort } from "./multicast.ts";

const never = new AbortController().signal;
const place = (name: string, service: string, port: number, host: string) => ({
  answers: [{ type: "PTR", name: service, ttl: 120, data: `${name}.${service}` } as const],
  additionals: [
    { type: "SRV", name: `${name}.${service}`, ttl: 120, data: { port, target: `${name}.local` } } as const,
    { type: "A", name: `${name}.local`, ttl: 120, data: host } as const,
  ],
});

testWithMulticast(
  "brokers that announce themselves are found, and Home Assistants with the address of a broker",
  async () => {
    await responder("_mqtt._tcp.local", () => place("Mosquitto\u0007", "_mqtt._tcp.local", 1884, "127.3.4.5"));
    await responder("_home-assistant._tcp.local", () => place("Home", "_home-assistant._tcp.local", 8123, "127.3.4.6"));
    const found = await findBrokers({ signal: never, timeoutMs: listensMs, interfaces: ["127.0.0.1"], udpPort });
    expect(found).toEqual([
      { name: "Mosquitto", url: "mqtt://127.3.4.5:1884", kind: "mqtt" },
      { name: "Home", url: "mqtt://127.3.4.6:1883", kind: "home-assistant" },
    ]);
  },
);

test("nothing is found where nothing answers, or where there is no network", async () => {
  expect(await findBrokers({ signal: never, timeoutMs: 50, interfaces: ["127.0.0.1"], udpPort })).toEqual([]);
  expect(await findBrokers({ signal: never, timeoutMs: 50, interfaces: [] })).toEqual([]);
});
