import { expect, test } from "@jest/globals";
import { checkedConfig } from "../../src/config/index.ts";
import { RigbridgeError } from "../../src/contract/problems.ts";

const stale = { maxAge: "4m", onStale: "curtail" };
const of = (kind: string, more: object) => ({ key: kind, plan: "peak", kind, ...more });
const mqtt = of("mqtt", { topic: "maestro/target", preset: "maestro", ...stale });
const hook = of("hook", { hook: "grid" });
const modbus = of("modbus", {
  address: "10.0.0.2",
  register: { address: 0 },
  quantity: "watts",
  runFrom: 5e6,
  ...stale,
});
const contact = of("contact", { address: "10.0.0.2", input: 0, ...stale });
const login = { clientId: "ven", clientSecret: "a secret of the VEN" };
const openadr = of("openadr", { url: "https://vtn.example/openadr3", ...login, ...stale });
const peak = of("peak", { hours: { from: "15:00", to: "19:00" }, months: [6, 7, 8, 9] });
const hooks = [{ name: "grid", secret: "0123456789abcdef" }];

/** Each mistake as `path: sentence`. */
function mistakes(signals: readonly object[], more: object = { mqtt: { url: "mqtt://10.0.0.1" } }): string[] {
  try {
    checkedConfig({ hooks, ...more, signals });
    return [];
  } catch (error) {
    if (!(error instanceof RigbridgeError)) throw error;
    return error.errors.map(({ path, message }) => `${path}: ${message}`);
  }
}

test("signals of each kind are accepted", () => {
  expect(mistakes([mqtt, hook, modbus, contact, openadr, peak])).toEqual([]);
});

test.each([
  ["without maxAge", { ...mqtt, maxAge: undefined }, /^signals\[0\]\.maxAge: /],
  ["without onStale", { ...contact, onStale: undefined }, /^signals\[0\]\.onStale: /],
  ["of an unknown kind", { ...mqtt, kind: "dnp3" }, /^signals\[0\]\.kind: /],
  ["with a path beside a preset", { ...mqtt, path: "x" }, /^signals\[0\]\.path: is that of the preset$/],
  ["in watts that never ends", { ...modbus, runFrom: undefined }, /runFrom: is required with quantity: watts/],
  ["of an unknown hook", { ...hook, hook: "gird" }, /hook: there is no web hook "gird"; did you mean "grid"\?$/],
  ["at an address of the cloud", { ...modbus, address: "169.254.169.254" }, /^signals\[0\]\.address: /],
  ["that sends a secret in the clear", { ...openadr, url: "http://vtn.example" }, /url: must begin with https:/],
  ["with half a login", { ...openadr, clientSecret: undefined }, /clientSecret: is required beside the other/],
  ["without any time", { ...peak, hours: undefined, months: undefined }, /windows: is empty, and there are neither/],
  ["with months for no hours", { ...peak, hours: undefined, hook: "grid" }, /months: is only for hours/],
])("a signal %s is refused", (_, signal, sentence) => {
  expect(mistakes([signal])).toEqual([expect.stringMatching(sentence)]);
});

test("a key twice, and a signal over MQTT without a broker, are refused", () => {
  expect(mistakes([hook, hook])).toEqual(["signals[1].key: is the key of an entry before it too"]);
  expect(mistakes([mqtt], {})).toEqual([expect.stringMatching(/^signals\[0\]\.kind: needs the MQTT bridge/)]);
});
