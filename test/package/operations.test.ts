import { existsSync } from "node:fs";
import { mkdtemp, readdir, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "@jest/globals";
import { readConfig } from "../../src/config/index.ts";
import { blocksIn } from "../docs/page-blocks.ts";
import { someLease } from "../http/some-lease.ts";
import { type Served, serve } from "../http/wire.ts";
import { root, run } from "./packed.ts";

// depends on: src/**, docs/operations.md, examples/systemd/*

const file = join(root, "docs", "operations.md");
const page = await readFile(file, "utf8");

/** The first cells of the tables' rows. */
const rows = page
  .split("\n")
  .filter((line) => line.startsWith("| "))
  .map((line) => line.split("|").map((cell) => cell.trim()));

describe("the page on operations", () => {
  let folder: string;
  beforeAll(async () => {
    folder = await mkdtemp(join(tmpdir(), "rigbridge-operations-"));
  });
  afterAll(() => rm(folder, { recursive: true }));

  test("shows configurations that have no mistakes", async () => {
    const shown = blocksIn(page, "yaml");
    expect(shown.length).toBeGreaterThan(2);
    for (const text of shown) {
      const config = join(folder, "rigbridge.yaml");
      await writeFile(config, text, { mode: 0o600 });
      const named = [...text.matchAll(/\$\{(\w+)\}/g)].map(([, name = ""]) => name);
      const secrets = Object.fromEntries(named.map((name) => [name, `an-invented-secret-of-${name}`]));
      await expect(readConfig(config, secrets)).resolves.toMatchObject({ warnings: [] });
    }
  });

  test("links to files that are there", () => {
    const links = [...page.matchAll(/\]\(([^)]+)\)/g)].map(([, target = ""]) => target);
    expect(links.filter((target) => !existsSync(join(dirname(file), target)))).toEqual([]);
  });
});

describe("its metrics", () => {
  let served: Served;
  beforeAll(async () => {
    const remoteWrite = () => ({ sent: 1, dropped: 0, waiting: 0 });
    served = await serve({}, {}, "127.0.0.1", { remoteWrite, lease: someLease });
    served.answers.set("listMiners", { groupList: [] });
    served.answers.set("listFacility", [
      { key: "meter", name: "", kind: "meter", readings: {}, outlets: [], rigs: null },
    ]);
    served.answers.set("listCurtailmentPlans", [{ key: "peak", active: null }]);
    served.answers.set("listSignals", [{ key: "grid", age: 1 }]);
  });
  afterAll(() => served.server.close());

  test("are those that the service has", async () => {
    const text = await (await fetch(`${served.server.url}/metrics`)).text();
    const given = [...text.matchAll(/^# TYPE (\S+)/gm)].map(([, name]) => name);
    const described = rows.flatMap(([, name = ""]) => /^`((?:rigbridge|process|nodejs)_\w+)`$/.exec(name)?.[1] ?? []);
    // This one has no MQTT bridge and no worker threads.
    const ofBridge = ["rigbridge_mqtt_conflict", "rigbridge_mqtt_state"];
    const ofWorkers = ["rigbridge_worker_eventloop_lag_p99_seconds", "rigbridge_worker_heap_bytes"];
    expect(described.toSorted()).toEqual([...given, ...ofBridge, ...ofWorkers].toSorted());
  });
});

describe("its log lines", () => {
  test("are those that the service writes, with their levels", async () => {
    const written = (await sources()).flatMap(({ text }) => logLines(text));
    const described = rows.filter(([, level = ""]) => /^(debug|info|warn|error|fatal)$/.test(level));
    const said = described.map(([, level = "", words = ""]) => `${level} ${words}`);
    expect(written.filter((line) => !said.includes(line))).toEqual([]);
    // What is logged as it comes from elsewhere is not seen in the call itself.
    const passedOn = said.filter((line) => !written.includes(line));
    expect(passedOn.toSorted()).toEqual([
      "error This agent refuses the service at ...: its database is older than the agent has seen it, or a copy (...); ...",
      "info Of ... only ... to ... are searched without being asked for",
      "info Rigbridge ... is ready at ...",
      "warn ... contains secrets that every user of this machine can read; run chmod 600 on it",
      "warn Another Rigbridge... has the same mqtt.base at the broker at ... and waits for this one to end; ...",
      "warn Another Rigbridge... publishes the same MQTT topics at the broker at ..., so this one waits ...",
      'warn Another client uses the client id "..." at the broker at ..., which ended this connection; give each its own mqtt.clientId',
      "warn Reports of rigs are not received on UDP port ...",
      "warn all rules and schedules are off, since the service was started with --without-rules; ...",
      "warn mDNS could not be used on ...",
    ]);
    const all = (await sources()).map(({ text }) => text.replace(/\$\{.*?\}/g, "...")).join("\n");
    for (const line of passedOn) expect(all).toContain(line.slice(line.indexOf(" ") + 1).replace(/ \.\.\.$/, ""));
  });

  test("tell what an error is: pino writes out `err`, and of another name next to nothing", async () => {
    const nameless = (await sources()).filter(({ text }) => /log\.\w+\(\s*\{ error\b/i.test(text));
    expect(nameless.map(({ name }) => name)).toEqual([]);
  });
});

/** What the service is made of: a client and a simulator write no log of it. */
async function sources(): Promise<readonly { readonly name: string; readonly text: string }[]> {
  const names = (await readdir(join(root, "src"), { recursive: true })).filter(
    (name) => name.endsWith(".ts") && !/^(client|simulator)[\\/]/.test(name),
  );
  return Promise.all(names.map(async (name) => ({ name, text: await readFile(join(root, "src", name), "utf8") })));
}

/** Level and words of each call whose words stand in it; what it fills in is three dots. */
function logLines(text: string): string[] {
  const calls = /\b#?log\.(debug|info|warn|error|fatal)\(\s*(?:\{.*?\},\s*|line,\s*)?(["`])(.*?)\2/gis;
  return [...text.matchAll(calls)].map(
    ([, level = "", , words = ""]) => `${level} ${words.replace(/\$\{.*?\}/g, "...")}`,
  );
}

const systemd = "systemd-analyze";
const hasSystemd = await run(systemd, ["--version"], root).then(
  ({ code }) => code === 0,
  () => false,
);
if (!hasSystemd) process.stderr.write("systemd is missing: its look at the example unit is left out\n");

(hasSystemd ? test : test.skip)("the example unit is one that systemd understands", async () => {
  const unit = join(root, "examples", "systemd", "rigbridge.service");
  expect(await run(systemd, ["verify", unit], root)).toEqual({ code: 0, output: "" });
});
