import { afterEach, expect, test } from "@jest/globals";
import type { Messages, ReceivedMessage } from "../../../src/contract/messages.ts";
import { problem } from "../../errors.ts";
import { closeBenches, openBench } from "../bench.ts";
import { openDouble } from "../source-double.ts";
import { admin } from "./settings-bench.ts";

afterEach(closeBenches);

type Service = Awaited<ReturnType<typeof openBench>>["service"];

const tried = async (
  service: Service,
  section: "electricity" | "market" | "heating" | "follow" | "scan" | "http",
  value?: unknown,
) =>
  (await service.testSettings({ section, ...(value === undefined ? {} : { value }) }, admin)).findings.map(
    ({ ok, message }) => `${ok === null ? "?" : ok ? "+" : "-"} ${message}`,
  );

/** A broker at which these topics have these retained messages. */
const retained = (payloads: Readonly<Record<string, string>>): Messages => ({
  isConfigured: true,
  listen: (topic, handle) => {
    const payload = payloads[topic];
    if (payload !== undefined) handle({ payload, at: 0, retained: true } satisfies ReceivedMessage);
    return () => undefined;
  },
  publish: () => true,
});

const hour = 3_600_000;
const listOf = (value: number) => {
  const start = Math.floor(Date.now() / hour) * hour;
  return [0, 1, 2].map((index) => ({
    start: new Date(start + index * hour).toISOString(),
    end: new Date(start + (index + 1) * hour).toISOString(),
    value,
  }));
};

test("a source of prices gives today's prices, a web page, another currency, or nothing; nothing is saved", async () => {
  const double = await openDouble({ "/prices": listOf(0.25), "/page": "<!doctype html><p>Log in" });
  const { service } = await openBench();
  const source = (path: string, currency = "USD") => ({
    source: { type: "list", url: `${double.url}${path}`, currency, headers: { authorization: "a-secret-word" } },
  });
  const [prices, now] = await tried(service, "electricity", source("/prices"));
  expect(prices).toMatch(new RegExp(`^\\+ ${double.host} has 3 prices until .* in USD$`));
  expect(now).toBe("+ Now a kWh costs 0.25 USD");
  expect(await tried(service, "electricity", source("/page"))).toEqual([
    `- ${double.host} answers with a web page instead of data`,
    "- The price now is not known",
  ]);
  const [, foreign] = await tried(service, "electricity", source("/prices", "SEK"));
  expect(foreign).toBe("- The price now is not known: no exchange rate from SEK to USD is known");
  const [none] = await tried(service, "electricity", source("/none"));
  expect(none).toMatch(/^- /);
  expect(none).not.toContain("a-secret-word");
  expect(await tried(service, "electricity", { price: 0.5 })).toEqual(["+ Now a kWh costs 0.50 USD"]);
  expect(await tried(service, "electricity")).toEqual(["? No price of electricity is set"]);
  const { sections } = await service.listSettings({}, admin);
  expect(sections.filter(({ owner }) => owner === "store")).toEqual([]);
});

test("coins, rooms and a surplus say their values, from an address or a topic", async () => {
  const double = await openDouble({
    "/coins": { bitcoin: { usd: 100_000 } },
    "/room": { value: 20.5 },
    "/power": "lots",
  });
  const messages = retained({ "den/temperature": "19.5", "meter/surplus": '{"p": "none"}' });
  const { service } = await openBench({ messages });
  await service.addGroup({ name: "den", parentId: 0 }, admin);
  await service.saveSettings({ section: "mqtt", value: { url: "mqtt://127.0.0.1:1" } }, admin);
  const coins = { sources: [{ type: "coingecko", url: double.url, coins: { BTC: "bitcoin" } }] };
  double.answers.set("/", { bitcoin: { usd: 100_000 } });
  expect((await tried(service, "market", coins)).join()).toContain(double.host);
  const room = (name: string, roomTemperature: object) => ({ name, group: "den", target: 21, roomTemperature });
  expect(await tried(service, "heating", room("Den", { url: `${double.url}/room`, path: "value" }))).toEqual([
    "+ Den: 20.5 °C",
  ]);
  expect(await tried(service, "heating", room("Den", { topic: "den/temperature" }))).toEqual(["+ Den: 19.5 °C"]);
  expect(await tried(service, "heating", room("Den", { api: true }))).toEqual([
    "? Den: its values come over the API; nothing can be asked for",
  ]);
  const sun = (surplus: object) => ({ name: "Sun", group: "den", surplus });
  const [odd] = await tried(service, "follow", sun({ topic: "meter/surplus", path: "p" }));
  expect(odd).toMatch(/^- Sun: meter\/surplus /);
  const [garbled] = await tried(service, "follow", sun({ url: `${double.url}/power` }));
  expect(garbled).toMatch(new RegExp(`^- Sun: ${double.host} `));
});

test("access says at which addresses the service can be opened", async () => {
  const { service } = await openBench();
  const key = "a-key-of-the-owner-1";
  expect(await tried(service, "http", { port: 18_000 })).toEqual([
    "? Only this machine can open it, at http://localhost:18000",
  ]);
  const { findings } = await service.testSettings({ section: "http", value: { host: "192.168.7.8", key } }, admin);
  expect(findings).toMatchObject([
    {
      ok: true,
      message: "Phones and computers in its network open it at http://192.168.7.8:17790",
      url: "http://192.168.7.8:17790",
    },
  ]);
});

test("networks say how many addresses they have; mistakes of a draft are named, and sections without a trial", async () => {
  const { service } = await openBench();
  const [far] = await tried(service, "scan", { every: 600, networks: ["10.77.0.0/24"] });
  expect(far).toMatch(/^\? 254 addresses are searched; those outside of this machine's own networks/);
  const large = await problem(
    service.testSettings({ section: "scan", value: { every: 600, networks: ["10.0.0.0/8"] } }, admin),
  );
  expect(large).toMatchObject({ code: "input.invalid", message: expect.stringContaining("16,777,214") });
  const draft = await problem(service.testSettings({ section: "electricity", value: { price: "x" } }, admin));
  expect(draft).toMatchObject({ code: "input.invalid", errors: [{ path: "electricity.price" }] });
  const none = await problem(service.testSettings({ section: "poll" }, admin));
  expect(none).toMatchObject({ code: "nothing.to.do", message: expect.stringContaining("poll") });
});
