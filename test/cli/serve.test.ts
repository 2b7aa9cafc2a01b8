import { once } from "node:events";
import { existsSync } from "node:fs";
import { mkdtemp, rm, stat, writeFile } from "node:fs/promises";
import { createServer } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, afterEach, beforeAll, describe, expect, test } from "@jest/globals";
import { type Farm, startFarm } from "../../src/simulator/index.ts";
import { until } from "../until.ts";
import { command, type Running, rigbridge, running } from "./command.ts";

const ready = /is ready at (http:\/\/127\.0\.0\.1:\d+)/;
const urlOf = (service: Running): string => ready.exec(service.said())?.[1] ?? "";

let folder = "";
let farm: Farm;
const services: Running[] = [];
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), "rigbridge-serve-"));
  farm = await startFarm({
    rigs: [
      { kind: "axeos", warm: true, name: "desk" },
      { kind: "cgminer", warm: true },
      { kind: "cgminer", warm: true },
    ],
  });
});
afterEach(async () => {
  for (const service of services.splice(0)) {
    service.signal("SIGKILL");
    await service.ended;
  }
});
afterAll(async () => {
  await farm.close();
  await rm(folder, { recursive: true });
});

/** A zone in which it is about noon: at night a schedule of the demo stops a rig. */
const zoneAtNoon = `Etc/GMT${new Intl.NumberFormat("en", { signDisplay: "always" }).format(new Date().getUTCHours() - 12)}`;

const place = () => ({ cwd: folder, env: { XDG_DATA_HOME: join(folder, "data"), TZ: zoneAtNoon } });

async function serve(...options: string[]): Promise<Running> {
  const service = await running(["serve", "--port", "0", ...options], ready, place());
  services.push(service);
  return service;
}

interface Listed {
  readonly name: string;
  readonly hostDescription: string;
  readonly statusInfo: { readonly statusDisplay: string };
}

async function miners(url: string): Promise<Listed[]> {
  const reply: unknown = await (await fetch(`${url}/api/miners`)).json();
  const isList = (value: unknown): value is { groupList: { minerList: Listed[] }[] } =>
    typeof value === "object" && value !== null && "groupList" in value;
  return isList(reply) ? reply.groupList.flatMap(({ minerList }) => minerList) : [];
}

/** Polls until all of them are mining. */
async function mining(url: string, count: number): Promise<Listed[]> {
  let list: Listed[] = [];
  const isMining = ({ statusInfo }: Listed): boolean => statusInfo.statusDisplay === "Mining";
  const areMining = async (): Promise<boolean> => {
    list = await miners(url);
    return list.filter(isMining).length >= count;
  };
  await until(areMining, count === 1 ? "the miner to be mining" : `all ${count} miners to be mining`);
  return list;
}

describe("rigbridge serve", () => {
  test("--make-key prints a key at the first start only, keeps it readable by its owner alone, and requires it", async () => {
    const data = join(folder, "kept");
    const shown = /shown only this once and kept in (\S+):\s+(\S{20,})/;
    const first = await serve("--data", data, "--make-key");
    const [, file = "", key = ""] = shown.exec(first.said()) ?? [];
    expect(file).toBe(join(data, "rigbridge.key"));
    expect((await stat(file)).mode & 0o777).toBe(0o600);
    const status = async (url: string, headers: Record<string, string> = {}) =>
      (await fetch(`${url}/api/summary`, { headers })).status;
    await until(() => first.said().includes("and restart:"), "the advice");
    expect(first.said()).toContain(`or add it to ${join(data, "rigbridge.yaml")} and restart`);
    expect(await status(urlOf(first))).toBe(401);
    expect(await status(urlOf(first), { "x-api-key": key })).toBe(200);
    first.signal("SIGTERM");
    await first.ended;
    const second = await serve("--data", data, "--make-key");
    expect(second.said()).not.toContain(key);
    expect(await status(urlOf(second), { "x-api-key": key })).toBe(200);
    expect(existsSync(join(data, "rigbridge.db"))).toBe(true);
    second.signal("SIGTERM");
    await second.ended;
    // Not on the network of the machine that runs the tests.
    await writeFile(join(data, "rigbridge.yaml"), "http: { announce: false }\n");
    const open = await running(["serve", "--port", "0", "--data", data, "--lan"], /Also reachable at/, place());
    services.push(open);
    const [, port] = /reachable at .*http:\/\/127\.0\.0\.1:(\d+)/.exec(open.said()) ?? [];
    expect(await status(`http://127.0.0.1:${port}`)).toBe(401);
    expect(await status(`http://127.0.0.1:${port}`, { "x-api-key": key })).toBe(200);
  });

  test("without options runs a demo farm, which leaves with the first real rig", async () => {
    const first = await serve();
    expect(first.said()).toContain("with 8 demo miners");
    expect(await mining(urlOf(first), 8)).toHaveLength(8);
    expect(first.said()).toContain("THIS IS A DEMO");
    expect(first.said()).toContain(`${urlOf(first)}/api/miners`);
    const rooms = async () => {
      const list = (await (await fetch(`${urlOf(first)}/api/rooms`)).json()) as { name: string }[];
      return list.map(({ name }) => name);
    };
    expect(await rooms()).toEqual(["Bathroom", "Roof"]);
    const added = await fetch(`${urlOf(first)}/api/miners`, {
      method: "POST",
      headers: { "content-type": "application/json" },
      body: JSON.stringify({ address: farm.rigs[0]?.address }),
    });
    expect(added.status).toBe(201);
    expect((await mining(urlOf(first), 1)).map(({ hostDescription }) => hostDescription)).toEqual([
      farm.rigs[0]?.address,
    ]);
    expect(await rooms()).toEqual([]);
    expect(first.said()).toContain("the demo miners were removed");
    first.signal("SIGTERM");
    expect(await first.ended).toMatchObject({ code: 0, stderr: "" });

    const second = await serve();
    expect(second.said()).toContain('with 1 miner"');
    expect((await mining(urlOf(second), 1)).map(({ hostDescription }) => hostDescription)).toEqual([
      farm.rigs[0]?.address,
    ]);
    second.signal("SIGINT");
    expect(await second.ended).toMatchObject({ code: 0 });
  });

  test("serves the miners of the configuration, with its store beside it, and executes commands", async () => {
    const [desk, one, two] = farm.rigs;
    const text = `miners:
  - { address: "${desk?.address}", name: desk, uid: on-the-desk }
  - { address: "${one?.address}", name: twin }
  - { address: "${two?.address}", name: twin }
`;
    await writeFile(join(folder, "home.yaml"), text);
    const service = await serve("--config", "home.yaml", "--demo");
    const url = urlOf(service);
    expect(service.said()).toContain("with 3 miners and 7 demo miners");
    await mining(url, 10);
    expect(existsSync(join(folder, "rigbridge.db"))).toBe(true);
    const env = { RIGBRIDGE_SERVICE: url };
    const act = (...args: string[]) => command(["act", ...args], { env });

    const done = await rigbridge(["act", "desk", "set", "--property", "frequency", "--value", "500"], { env });
    expect(done).toMatchObject({ code: 0, stderr: "", stdout: expect.stringMatching(/^desk: ./) });
    expect(desk?.requests.writes.at(-1)).toContain("500");

    const ambiguous = await act("Twin", "restart");
    const refused = await act("desk", "set", "--property", "frequency", "--value", "9000");
    const unknown = await act("nobody", "restart");
    expect(ambiguous.code).toBe(1);
    expect(ambiguous.stderr).toContain('2 miners are named "Twin"; use an id instead:');
    expect(ambiguous.stderr).toContain(one?.address);
    expect(refused.code).toBe(1);
    expect(refused.stderr).toContain("400 to 625");
    expect(unknown).toMatchObject({ code: 1, stderr: expect.stringContaining('There is no miner "nobody"') });
  });

  test("reports every mistake of the configuration and starts nothing", async () => {
    await writeFile(join(folder, "bad.yaml"), "http:\n  prt: 1\nstore: { url: bad.db }\nminers:\n  - name: a\n");
    const { code, stdout, stderr } = await command(["serve", "--config", "bad.yaml"], place());
    expect({ code, stdout }).toEqual({ code: 1, stdout: "" });
    expect(stderr).toMatch(/bad\.yaml:2: http\.prt: .*\n.*bad\.yaml:5: miners\[0\]\.address: is missing\n$/);
    expect(existsSync(join(folder, "bad.db"))).toBe(false);
  });

  test("reports that its port is taken, and what to do", async () => {
    const other = createServer().listen(0, "127.0.0.1");
    await once(other, "listening");
    const bound = other.address();
    const port = typeof bound === "object" ? `${bound?.port}` : "";
    await writeFile(join(folder, "empty.yaml"), "store: { url: empty.db }\n");
    const { code, stderr } = await rigbridge(["serve", "--config", "empty.yaml", "--port", port], place());
    const withoutFile = await rigbridge(["serve", "--port", port], place());
    other.close();
    expect(code).toBe(1);
    expect(stderr).toContain(`Cannot listen on 127.0.0.1 port ${port}: another program listens there`);
    expect(stderr).toContain("Change http.host or http.port in empty.yaml, or choose another with --port");
    expect(withoutFile.stderr).toContain("Change http.host or http.port, or choose another with --port");
  });

  test("does not listen beyond loopback without a key", async () => {
    const { code, stderr } = await command(["serve", "--host", "0.0.0.0"], place());
    expect(code).toBe(1);
    expect(stderr).toContain("set http.key");
    expect(stderr).toContain("in rigbridge.yaml");
    const elsewhere = await command(["serve", "--host", "0.0.0.0", "--data", "kept-there"], place());
    expect(elsewhere.stderr).toContain("in kept-there/rigbridge.yaml");
  });
});

describe("rigbridge act", () => {
  test("suggests how to start a service where there is none", async () => {
    const { code, stderr } = await command(["act", "desk", "restart", "--service", "http://127.0.0.1:1"]);
    expect(code).toBe(1);
    expect(stderr).toContain("No service answers at http://127.0.0.1:1; start one with npm start");
    const both = await command(["act", "desk", "restart", "--service", "http://127.0.0.1:1, http://127.0.0.1:2/"]);
    expect(both.stderr).toContain("No service answers at http://127.0.0.1:1, http://127.0.0.1:2; start one");
    const wrong = await command(["act", "desk", "restart", "--service", "http://127.0.0.1:1, nothing"]);
    expect(wrong.stderr).toContain("url[1]: must be");
  });

  test("names every missing or wrong option before anything is sent", async () => {
    const { code, stderr } = await command(["act", "desk", "set", "--pool", "x"]);
    expect(code).toBe(1);
    expect(stderr.trim().split("\n").toSorted()).toEqual([
      "  --pool: must be a whole number of 1 to 14 digits",
      "  --property: is required for set",
      "  --value: is required for set",
      "Nothing was sent:",
    ]);
  });

  test("sends the key, prints it nowhere, and reports a wrong key", async () => {
    const key = "an-invented-key-of-some-length";
    await writeFile(join(folder, "keyed.yaml"), `http: { key: ${key} }\nstore: { url: keyed.db }\n`);
    const service = await serve("--config", "keyed.yaml");
    const act = (env: Record<string, string>) =>
      command(["act", "desk", "restart"], { env: { RIGBRIDGE_SERVICE: urlOf(service), ...env } });
    const right = await act({ RIGBRIDGE_KEY: key });
    const wrong = await act({ RIGBRIDGE_KEY: `${key}-wrong` });
    expect(right.stderr).toContain('There is no miner "desk"');
    expect(wrong.stderr).toContain("(set the key in RIGBRIDGE_KEY)");
    expect(`${right.stderr}${wrong.stderr}${service.said()}`).not.toContain(key);
  });
});

describe("the simulator", () => {
  /** Prints every module of the simulator that the process has loaded. */
  const hooks = `import { registerHooks } from "node:module";
    const loaded = new Set();
    registerHooks({ load: (url, context, next) => (loaded.add(url), next(url, context)) });
    process.on("exit", () => console.log("loaded", [...loaded].filter((url) => url.includes("/src/simulator/")).length));`;
  const watched = () => ({
    ...place(),
    env: { ...place().env, NODE_OPTIONS: `--import "data:text/javascript,${encodeURIComponent(hooks)}"` },
  });

  test.each([
    ["is not loaded by a service over real rigs", [], /^loaded 0$/m],
    ["is loaded for the demo", ["--demo"], /^loaded [1-9]\d*$/m],
  ])("%s", async (_, options, loaded) => {
    const file = `real${options.length}.yaml`;
    const mqtt = "mqtt: { broker: { port: 0 } }";
    const miner = `miners: [{ address: "${farm.rigs[0]?.address}" }]`;
    await writeFile(join(folder, file), `store: { url: ":memory:" }\n${mqtt}\n${miner}\n`);
    const service = await running(["serve", "--port", "0", "--config", file, ...options], ready, watched());
    services.push(service);
    await mining(urlOf(service), 1);
    service.signal("SIGTERM");
    expect((await service.ended).stdout).toMatch(loaded);
  });
});
