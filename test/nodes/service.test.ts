import { existsSync } from "node:fs";
import { join } from "node:path";
import { afterEach, describe, expect, test } from "@jest/globals";
import { z } from "zod";
import registerAction from "../../nodes/miner-action/rigbridge-miner-action.ts";
import { isAtLeast } from "../../nodes/service/open-service.ts";
import registerService from "../../nodes/service/rigbridge-service.ts";
import { startFarm } from "../../src/simulator/index.ts";
import { until } from "../until.ts";
import { type BenchFlow, openFlow } from "./bench-flow.ts";
import { type OpenedForNodes, openElsewhere, serviceKinds, testKey } from "./service-kinds.ts";

const closers: (() => Promise<void>)[] = [];
afterEach(async () => {
  for (const close of closers.splice(0).reverse()) await close();
});

const openService = async <T extends OpenedForNodes>(kind: { open(): Promise<T> }): Promise<T> => {
  const service = await kind.open();
  closers.push(() => service.close());
  return service;
};

const user = {
  id: "action",
  type: "rigbridge-miner-action",
  version: 1,
  service: "service",
  scope: "all",
  action: "stop",
};

async function open(
  service: OpenedForNodes,
  changed: Readonly<Record<string, unknown>> = {},
  credentials: OpenedForNodes["credentials"] = service.credentials,
): Promise<BenchFlow> {
  const flow = [{ ...service.node, ...changed }, user];
  const bench = await openFlow([registerService, registerAction], flow, { credentials, userDir: service.userDir });
  closers.push(() => bench.close());
  return bench;
}

const shown = (bench: BenchFlow) => bench.recorded("action").statuses;
const connected = (bench: BenchFlow) =>
  until(() => shown(bench).at(-1) === "green dot connected", "the miner action node to connect", {
    details: () => shown(bench),
  });

const Trial = z.object({ service: z.string(), miners: z.int(), offline: z.int(), isFull: z.boolean() }).loose();
const Tested = z.object({ rigs: z.array(z.object({ problem: z.string().nullable() })) });
const Failure = z.object({ code: z.string(), message: z.string() });
const Named = z.array(z.object({ value: z.string() }).loose());

describe.each(serviceKinds)("a rigbridge-service for $name", (kind) => {
  test("connects for the first node that uses it, and shows it", async () => {
    const bench = await open(await openService(kind));
    await connected(bench);
    expect(shown(bench)).toEqual(["grey ring not connected", "yellow ring connecting", "green dot connected"]);
    expect(bench.recorded("service").statuses.at(-1)).toBe("green dot connected");
    expect(bench.recorded("service").warnings).toEqual([]);
  });

  test("gives the editor the service's lists", async () => {
    const service = await openService(kind);
    const bench = await open(service);
    const list = async (name: string) =>
      Named.parse((await bench.request().get(`/rigbridge/services/service/${name}`)).body);
    const miners = await list("miners");
    expect(miners.map(({ name }) => name).toSorted()).toEqual(service.miners.toSorted());
    expect(new Set(miners.map(({ value }) => value)).size).toBe(miners.length);
    expect((await list("groups")).map(({ name }) => name)).toContain(service.group);
    for (const name of ["pools", "coins", "algorithms", "templates", "rules"]) await list(name);
    expect(Failure.parse((await bench.request().get("/rigbridge/services/service/secrets")).body).code).toBe(
      "not.found",
    );
  });

  test("is tested with the dialog's settings and the stored secrets, and reports what it found", async () => {
    const service = await openService(kind);
    const bench = await open(service);
    const ask = (config: object, secrets: object) =>
      bench.request().post("/rigbridge/test").send({ id: "service", config, secrets });
    const { body } = await ask(service.node, { key: "__PWRD__" });
    expect(Trial.parse(body)).toMatchObject({ miners: service.miners.length, isFull: !kind.isReference });
    if (service.node.mode === "inside") {
      expect(body).toMatchObject({ rigs: service.miners.map(() => ({ model: expect.any(String), problem: null })) });
      return;
    }
    const wrong = await ask(service.node, { key: "another-key-that-is-wrong" });
    expect(wrong.status).toBe(401);
    expect(Failure.parse(wrong.body).code).toBe("key.wrong");
    expect(JSON.stringify(wrong.body)).not.toContain("another-key");
    for (const url of ["no address", "http://127.0.0.1:1, ftp://second"])
      expect(Failure.parse((await ask({ mode: "elsewhere", url }, {})).body).message).toMatch(/^Address: /);
  });
});

describe("a rigbridge-service", () => {
  test("reports a wrong configuration, naming the field", async () => {
    const bench = await open(await openService({ open: openElsewhere }), { url: "nowhere at all" });
    await until(() => shown(bench).at(-1)?.startsWith("red ring") === true, "the node to show the connection problem");
    expect(bench.recorded("service").warnings).toEqual(["Address: must be an address like http://192.168.1.5:17790"]);
    expect(shown(bench).at(-1)).toMatch(/^red ring not connected: Address: must be an address like/);
  });

  test("names an environment variable that is not set", async () => {
    const bench = await open(await openService({ open: openElsewhere }), { url: `\${${"NO_SUCH_VARIABLE"}}` });
    await until(() => bench.recorded("service").warnings.length > 0, "the warning about the environment variable");
    expect(bench.recorded("service").warnings).toEqual([
      "Address: the environment variable NO_SUCH_VARIABLE is not set",
    ]);
  });

  test("reports that the key is refused, and never reveals it", async () => {
    const service = await openService({ open: openElsewhere });
    const bench = await open(service, {}, { service: { key: "another-key-that-is-wrong" } });
    await until(
      () => shown(bench).at(-1) === "red ring not connected: API key refused",
      "the node to show that its key was refused",
    );
    expect(JSON.stringify([bench.recorded("service"), bench.recorded("action")])).not.toContain("another-key");
  });

  test("acts as the configured user", async () => {
    const service = await openService({ open: openElsewhere });
    const bench = await open(service, { user: "anna" });
    await connected(bench);
    const { body } = await bench.request().get("/rigbridge/services/service/miners");
    expect(Named.parse(body).map(({ value }) => value)).toEqual(["Rig C"]);
  });

  test("refuses a configuration of a newer version", async () => {
    const bench = await open(await openService({ open: openElsewhere }), { version: 99 });
    await until(() => bench.recorded("service").warnings.length > 0, "the warning about the newer version");
    expect(bench.recorded("service").warnings[0]).toMatch(/newer version/);
  });

  test("inside Node-RED keeps its data under the user folder, and needs a newer Node", async () => {
    const [inside] = serviceKinds;
    if (inside === undefined) throw new Error("there is one");
    const service = await openService(inside);
    await connected(await open(service));
    expect(existsSync(join(service.userDir, "rigbridge", "service.db"))).toBe(true);
    const versions = ["20.20.2", "22.9.0", "22.12.0", "22.13.0", "24.1.0"];
    expect(versions.map((version) => isAtLeast(version, [22, 13]))).toEqual([false, false, false, true, true]);
  });

  test("inside Node-RED names every mistake in its rigs, with the row", async () => {
    const [inside] = serviceKinds;
    if (inside === undefined) throw new Error("there is one");
    const service = await openService(inside);
    const rigs = [
      { address: "127.0.0.1:4028" },
      { address: "no such address!" },
      { address: "127.0.0.1:4028", name: "again" },
    ];
    const bench = await open(service, { rigs });
    await until(() => bench.recorded("service").warnings.length > 0, "the warning about the rigs");
    const [warning = ""] = bench.recorded("service").warnings;
    expect(warning).toMatch(/^Rigs 2: .+; Rigs 3: is also the address of rig 1$/);
    expect(shown(bench).at(-1)).toMatch(/^red ring not connected: Rigs 2: /);
    const reply = await bench
      .request()
      .post("/rigbridge/test")
      .send({
        id: "service",
        config: { ...service.node, rigs },
        secrets: {},
      });
    expect(Failure.parse(reply.body)).toEqual({ code: "config.invalid", message: warning });
  });

  test("inside Node-RED logs in to a rig with the rig's own login, else with that of all rigs", async () => {
    const farm = await startFarm({
      rigs: [
        { kind: "antminer", warm: true, speaks: "web", password: "first-invented" },
        { kind: "antminer", warm: true, speaks: "web", password: "second-invented" },
        { kind: "antminer", warm: true, speaks: "web", password: "second-invented" },
      ],
    });
    closers.push(() => farm.close());
    const [inside] = serviceKinds;
    if (inside === undefined) throw new Error("there is one");
    const service = await openService(inside);
    const rigs = farm.rigs.map(({ address }, index) => ({ address, name: `Rig ${index}`, login: index + 1 }));
    const secrets = { username: "root", password: "second-invented", username_1: "root", password_1: "first-invented" };
    const bench = await open(service, { rigs }, { service: secrets });
    await connected(bench);
    const test = async (typed: object) => {
      const reply = await bench
        .request()
        .post("/rigbridge/test")
        .send({
          id: "service",
          config: { ...service.node, rigs },
          secrets: typed,
        });
      return Tested.parse(reply.body).rigs.map(({ problem }) => problem);
    };
    expect(await test({ password_1: "__PWRD__" })).toEqual([null, null, null]);
    expect(await test({ password_1: "another-one" })).toEqual([expect.any(String), null, null]);
    expect(await test({ password_1: "", username_1: "" })).toEqual([expect.any(String), null, null]);
  });

  test("is reported if it is not deployed", async () => {
    const bench = await open(await openService({ open: openElsewhere }));
    const reply = await bench.request().get("/rigbridge/services/other/miners");
    expect(reply.status).toBe(404);
    expect(Failure.parse(reply.body).code).toBe("not.found");
  });

  test("reveals no secret in its lists", async () => {
    const bench = await open(await openService({ open: openElsewhere }));
    const { body } = await bench.request().get("/rigbridge/services/service/miners");
    expect(JSON.stringify(body)).not.toContain(testKey);
  });
});
