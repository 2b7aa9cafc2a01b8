import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, expect, test } from "@jest/globals";
import { parseConfig } from "../../src/config/read.ts";
import { until } from "../until.ts";
import { command, type Running, running } from "./command.ts";

const ready = /is ready at (http:\/\/127\.0\.0\.1:\d+)/;

let folder = "";
let file = "";
let service: Running;
const url = (): string => ready.exec(service.said())?.[1] ?? "";
const config = (...args: string[]) => command(["config", ...args, "--service", url()], { cwd: folder });

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), "rigbridge-settings-"));
  file = join(folder, "rigbridge.yaml");
  await writeFile(file, "http: {port: 0}\npower: {minOn: 60}\n");
  service = await running(["serve", "--config", file], ready, { cwd: folder });
});
afterAll(async () => {
  service.signal("SIGKILL");
  await service.ended;
  await rm(folder, { recursive: true });
});

interface Listed {
  readonly sections: readonly { readonly key: string; readonly owner: string; readonly effective: unknown }[];
}

async function section(key: string) {
  const { sections } = (await (await fetch(`${url()}/api/settings`)).json()) as Listed;
  return sections.find((each) => each.key === key);
}

test("SIGHUP reads the file again; a file with mistakes changes nothing, and each of them is said", async () => {
  await writeFile(file, "http: {port: 0}\npower: {minOn: 90}\n");
  service.signal("SIGHUP");
  await until(() => service.said().includes("Changed: power"), "the file to be read again");
  expect(await section("power")).toMatchObject({ owner: "file", effective: { minOn: 90 } });
  await writeFile(file, "http: {port: 0}\npower: {minOn: -1, minOf: 3}\n");
  service.signal("SIGHUP");
  await until(() => service.said().includes("The configuration was not read again"), "the mistakes to be said");
  expect(service.said()).toContain("rigbridge.yaml:2: power.minOn: must be at least 0");
  expect(service.said()).toContain('rigbridge.yaml:2: power.minOf: is not a known key; did you mean \\"minOn\\"?');
  expect(await section("power")).toMatchObject({ effective: { minOn: 90 } });
  await writeFile(file, "http: {port: 0}\npower: {minOn: 90}\n");
});

test("config reload says what has changed", async () => {
  const same = await config("reload");
  expect([same.code, same.stderr]).toEqual([0, ""]);
  expect(same.stdout).toBe("The configuration file says the same as before\n");
  await writeFile(file, "http: {port: 0}\npower: {minOn: 30}\n");
  expect((await config("reload")).stdout).toBe("Changed: power\n");
  await writeFile(file, "http: {port: 0}\npower: {minOn: x}\n");
  const { code, stderr } = await config("reload");
  expect([code, stderr]).toEqual([1, expect.stringContaining("rigbridge.yaml:2: power.minOn")]);
  await writeFile(file, "http: {port: 0}\npower: {minOn: 30}\n");
});

test("config import saves the sections of a file, and config export prints them again", async () => {
  const wanted = join(folder, "wanted.yaml");
  await writeFile(
    wanted,
    "history: {raw: 3}\nmarket: {sources: [{type: coingecko, coins: {BTC: bitcoin}, every: 600}]}\nmqtt: {url: 'mqtt://127.0.0.1:1', username: rig, password: a-secret-word}\n",
  );
  const trial = await config("import", wanted, "--dry-run");
  expect(trial.stdout).toContain("history: history.raw: 2 → 3");
  expect(await section("history")).toMatchObject({ owner: "default" });
  const { code, stderr } = await config("import", wanted);
  expect([code, stderr]).toEqual([0, ""]);
  expect(await section("history")).toMatchObject({ owner: "store", effective: { raw: 3 } });
  const exported = await config("export");
  expect(exported.stdout).toContain("# retention of readings\nhistory:\n  # days to keep every sample\n  raw: 3\n");
  expect(exported.stdout).not.toContain("secret-word");
  expect(exported.stderr).toContain("set these environment variables: MQTT_PASSWORD");
  const again = parseConfig(exported.stdout, "exported.yaml", { MQTT_PASSWORD: "a-secret-word" });
  expect(again.written).toMatchObject({
    history: { raw: 3 },
    market: { sources: [{ type: "coingecko", coins: { BTC: "bitcoin" }, every: 600 }] },
    mqtt: { password: "a-secret-word" },
  });
});

test("config import refuses what a service cannot save, and a section of the file, before it saves anything", async () => {
  const wanted = join(folder, "more.yaml");
  await writeFile(wanted, "history: {raw: 9}\nminers: []\n");
  expect((await config("import", wanted)).stderr).toContain("has keys that cannot be saved in a service: miners");
  await writeFile(wanted, "history: {raw: 9}\npower: {minOn: 1}\n");
  expect((await config("import", wanted)).stderr).toContain("power is declared by the configuration file");
  expect(await section("history")).toMatchObject({ effective: { raw: 3 } });
});

test("a change of the file that needs a restart has the service start anew in its process", async () => {
  const phone = 'channels: [{key: phone, type: ntfy, url: "http://127.0.0.1:9", topic: rigs}]\n';
  await writeFile(file, `http: {port: 0}\npower: {minOn: 30}\n${phone}updates: {url: "http://127.0.0.1:9/"}\n`);
  const before = url();
  const { stdout } = await config("reload");
  expect(stdout).toBe("Changed: channels, updates; the service restarts with them\n");
  await until(() => service.said().split("is ready at").length > 2, "the service to be ready again");
  const now = service.said().match(/is ready at (http:\/\/127\.0\.0\.1:\d+)(?![\s\S]*is ready at)/)?.[1] ?? before;
  expect(JSON.stringify(await (await fetch(`${now}/api/channels`)).json())).toContain("phone");
});
