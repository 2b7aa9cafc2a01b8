import { readdir, readFile } from "node:fs/promises";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "@jest/globals";
import { ownHost } from "../own-host.ts";
import { root } from "../package/packed.ts";
import { until } from "../until.ts";
import { type NodeRed, startNodeRed } from "./real-node-red.ts";
import { type OpenedElsewhere, openElsewhere, testKey } from "./service-kinds.ts";

// depends on: nodes/**

const tokens = { all: "*", read: "read", none: "", other: "flows.read" } as const;
type Who = keyof typeof tokens;

let red: NodeRed;
let service: OpenedElsewhere;
beforeAll(async () => {
  service = await openElsewhere();
  const permissions = JSON.stringify(tokens);
  red = await startNodeRed(5, {
    token: "all",
    settings: `adminAuth: { type: "credentials", users: [], tokens: async (token) =>
      token in ${permissions} ? { username: token, permissions: ${permissions}[token] } : null },`,
  });
  const action = { id: "action", type: "rigbridge-miner-action", version: 1, service: "service", scope: "all" };
  const placed = { z: "tab", action: "restart", wires: [] };
  await red.deploy([{ id: "tab", type: "tab" }, service.node, { ...action, ...placed }], service.credentials);
  await until(() => red.status("action")?.text === "connected", "the miner action node to connect", {
    details: red.log,
  });
});
afterAll(async () => {
  await red.close();
  await service.close();
});

const ask = (who: Who | null, path: string, method = "GET", body?: unknown): Promise<Response> =>
  red.request(path, {
    method,
    headers: { authorization: who === null ? "" : `Bearer ${who}`, "content-type": "application/json" },
    ...(body === undefined ? {} : { body: JSON.stringify(body) }),
  });

interface Endpoint {
  readonly method: string;
  readonly path: string;
  readonly permission: string;
}

/** Every endpoint in the sources, for the service of the flow. */
async function endpoints(): Promise<readonly Endpoint[]> {
  const home = join(root, "nodes");
  const files = (await readdir(home, { recursive: true })).filter(
    (file) => file.endsWith(".ts") && !/^(dist|node_modules)/.test(file),
  );
  const sources = (await Promise.all(files.map((file) => readFile(join(home, file), "utf8")))).join("\n");
  const named = (name: string): string =>
    name.startsWith('"') ? name.slice(1, -1) : (new RegExp(`const ${name} = "([^"]+)"`).exec(sources)?.[1] ?? name);
  return [...sources.matchAll(/\bserve\(\s*RED,\s*"(get|post)",\s*"([^"]+)",\s*([\w".-]+),/g)].map(
    ([, method = "", path = "", permission = ""]) => ({
      method: method.toUpperCase(),
      path: path.replace(":id", "service").replace(":list", "miners"),
      permission: named(permission),
    }),
  );
}

describe("The editor's endpoints", () => {
  test("refuse requests without a token, with an invalid one, or without the permission", async () => {
    const all = await endpoints();
    expect(all.map(({ path }) => path)).toEqual(
      expect.arrayContaining(["/rigbridge/found", "/rigbridge/test", "/rigbridge/services/service/miners"]),
    );
    for (const { method, path } of all)
      for (const who of [null, "none", "other"] as const)
        expect([method, path, who, (await ask(who, path, method)).status]).toEqual([method, path, who, 401]);
  });

  test("allow read permission everything but the test of a service", async () => {
    for (const { method, path, permission } of await endpoints()) {
      // It would search the networks of this machine.
      if (path === "/rigbridge/found") continue;
      const { status } = await ask("read", path, method);
      const mayRead = permission.endsWith(".read");
      expect([method, path, status]).toEqual([method, path, mayRead ? 200 : 401]);
    }
    expect((await ask("all", "/rigbridge/test", "POST", {})).status).not.toBe(401);
  });

  test("and Node-RED's own never reveal a service's key", async () => {
    const trial = { id: "service", config: service.node, secrets: { key: "__PWRD__" } };
    const tried = await ask("all", "/rigbridge/test", "POST", trial);
    expect(tried.status).toBe(200);
    const answers = [await tried.text()];
    const own = ["/flows", "/credentials/rigbridge-service/service", "/rigbridge/services/service/miners"];
    for (const path of own) answers.push(await (await ask("all", path)).text());
    expect(answers[2]).toContain("has_key");
    const kept = ["flows.json", "flows_cred.json"].map((file) => readFile(join(red.userDir, file), "utf8"));
    for (const text of [...answers, ...(await Promise.all(kept)), red.log()]) expect(text).not.toContain(testKey);
  });

  test("say in the language of the editor what the service says by code", async () => {
    const trial = { id: "service", config: { ...service.node, url: `http://${ownHost()}:9` }, secrets: {} };
    const message = async (language: string) =>
      (await ask("all", `/rigbridge/test?language=${language}`, "POST", trial)).text();
    expect(await message("de")).toMatch(/Der Dienst unter .* ist nicht erreichbar: dort lauscht kein Programm/);
    expect(await message("en-US")).toMatch(/The service at .* cannot be reached: no program listens there/);
  });
});
