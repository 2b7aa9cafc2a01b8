import { afterAll, afterEach, beforeAll, describe, expect, test } from "@jest/globals";
import { until } from "../until.ts";
import { type NodeRed, startNodeRed, versions } from "./real-node-red.ts";
import { type OpenedForNodes, openElsewhere, serviceKinds } from "./service-kinds.ts";

const closers: (() => Promise<unknown>)[] = [];
afterEach(async () => {
  for (const close of closers.splice(0).reverse()) await close();
});

async function openService<T extends OpenedForNodes>(kind: { open(): Promise<T> }): Promise<T> {
  const service = await kind.open();
  closers.push(() => service.close());
  return service;
}

/** An inject node into a miner action, whose messages and errors are shown by debug nodes. */
const flowFor = (service: OpenedForNodes, fields: Readonly<Record<string, unknown>>) => [
  { id: "tab", type: "tab", label: "Test" },
  service.node,
  { id: "in", type: "inject", z: "tab", props: [], wires: [["action"]] },
  {
    id: "action",
    type: "rigbridge-miner-action",
    z: "tab",
    version: 1,
    service: "service",
    wires: [["out"]],
    ...fields,
  },
  { id: "catch", type: "catch", z: "tab", scope: null, wires: [["errors"]] },
  {
    id: "out",
    type: "debug",
    z: "tab",
    active: true,
    tosidebar: true,
    complete: "true",
    targetType: "full",
    wires: [],
  },
  {
    id: "errors",
    type: "debug",
    z: "tab",
    active: true,
    tosidebar: true,
    complete: "true",
    targetType: "full",
    wires: [],
  },
];

const connected = (red: NodeRed) =>
  until(() => red.status("action")?.text === "connected", "the miner action node to connect", { details: red.log });

describe.each(versions)("Node-RED %s", (version) => {
  let red: NodeRed;
  beforeAll(async () => {
    red = await startNodeRed(version);
  });
  // Its flow ends before the services that the flow uses.
  afterEach(() => red.deploy([]));
  afterAll(() => red.close());

  test.each(serviceKinds)(
    "with $name loads the nodes, tells a miner, and sends a refusal with its code to Catch",
    async (kind) => {
      const service = await openService(kind);
      const fields = { scope: "miners", miners: "who", minersType: "msg", action: "restart" };
      await red.deploy(flowFor(service, fields), service.credentials);
      await connected(red);
      await red.inject("in", { who: service.steered });
      await until(() => red.messages("out").length > 0, "the rig's answer to the restart command", {
        details: () => JSON.stringify(red.messages("errors")) + red.log(),
      });
      expect(red.messages("out")[0]).toMatchObject({ payload: { success: true }, miner: { name: service.steered } });
      await red.inject("in", { who: "Nobody" });
      await until(() => red.messages("errors").length > 0, "the error about the unknown miner", { details: red.log });
      expect(red.messages("errors")[0]).toMatchObject({
        who: "Nobody",
        error: {
          code: "not.found",
          message: expect.stringMatching(/Miners: unknown miner "Nobody"/),
          source: { id: "action" },
        },
      });
      await red.deploy(flowFor(service, { ...fields, action: "stop" }), {}, "nodes");
      await connected(red);
    },
  );

  test("loads every set of nodes without an error, in both languages", async () => {
    const sets = await (await red.request("/nodes", { headers: { accept: "application/json" } })).json();
    const ours = sets.filter(({ module }: { module: string }) => module === "@rigbridge/node-red");
    expect(ours.length).toBeGreaterThan(1);
    for (const { id, enabled, err } of ours) expect([id, enabled, err]).toEqual([id, true, undefined]);
    for (const { id } of ours)
      for (const language of ["en-US", "de"]) {
        const reply = await red.request(`/locales/${id}?lng=${language}`);
        expect(Object.keys(await reply.json())).toContain(id.replace("@rigbridge/node-red/", ""));
      }
    expect((await red.request("/resources/@rigbridge/node-red/rigbridge.js")).status).toBe(200);
  });

  test("answers the editor only with permission", async () => {
    const service = await openService({ open: openElsewhere });
    const settings = `adminAuth: {
      type: "credentials", users: [],
      tokens: async (token) => ({ "token-all": { username: "all", permissions: "*" }, "token-none": { username: "none", permissions: "flows.read" }, "token-read": { username: "read", permissions: "read" } })[token] ?? null,
    },`;
    const guarded = await startNodeRed(version, { settings, token: "token-all" });
    closers.push(() => guarded.close());
    await guarded.deploy(flowFor(service, { scope: "all", action: "stop" }), service.credentials);
    await connected(guarded);
    const paths = ["/rigbridge/found", "/rigbridge/services/service/miners", "/rigbridge/actions/service"];
    const ask = async (path: string, token: string) =>
      (
        await guarded.request(path, {
          headers: token === "" ? { authorization: "" } : { authorization: `Bearer ${token}` },
        })
      ).status;
    for (const path of paths.slice(1)) expect([path, await ask(path, "token-read")]).toEqual([path, 200]);
    for (const path of paths)
      for (const token of ["", "token-none", "token-invented"])
        expect([path, token, await ask(path, token)]).toEqual([path, token, 401]);
    const trial = await guarded.request("/rigbridge/test", {
      method: "POST",
      headers: { authorization: "Bearer token-read" },
    });
    expect(trial.status).toBe(401);
  });

  test("closes a service inside it with each deploy, and finds its data again", async () => {
    const [inside] = serviceKinds;
    if (inside === undefined) throw new Error("there is one");
    const service = await openService(inside);
    for (const action of ["stop", "start"]) {
      await red.deploy(flowFor(service, { scope: "all", action }));
      await connected(red);
    }
    expect(red.log()).not.toMatch(/Error stopping node|cannot be opened|was not closed/i);
  });
});
