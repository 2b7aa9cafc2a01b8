import { afterAll, beforeAll, describe, expect, test } from "@jest/globals";
import { Validator } from "@seriousme/openapi-schema-validator";
import { type Operation, operationNames, operations } from "../../src/contract/operations.ts";
import { problems } from "../../src/contract/problems.ts";
import { openApiDocument } from "../../src/http/openapi.ts";
import { type Served, serve } from "./wire.ts";

type Json = Record<string, unknown>;
const isJson = (value: unknown): value is Json => typeof value === "object" && value !== null;

/** As a reader gets it. */
const document: unknown = JSON.parse(JSON.stringify(openApiDocument("1.2.3")));

/** What stands at a path of keys. */
function at(...keys: readonly (string | number)[]): Json {
  let value: unknown = document;
  for (const key of keys) value = isJson(value) ? value[key] : undefined;
  if (!isJson(value)) throw new Error(`nothing stands at ${keys.join(" ")}`);
  return value;
}

const templated = (path: string): string => path.replaceAll(/:(\w+)/g, "{$1}");
const pathOf = ({ path, ownPath = path }: Operation): string => templated(ownPath);
const entry = (name: (typeof operationNames)[number]): Json =>
  at("paths", pathOf(operations[name]), operations[name].method.toLowerCase());
const parameter = (name: (typeof operationNames)[number], key: string): Json => {
  const all = entry(name).parameters;
  const found: unknown = Array.isArray(all) ? all.find((each) => isJson(each) && each.name === key) : undefined;
  if (!isJson(found)) throw new Error(`${name} has no parameter ${key}`);
  return found;
};

describe("the OpenAPI document", () => {
  test("is valid OpenAPI 3.1", async () => {
    const validator = new Validator();
    const { valid, errors } = await validator.validate(openApiDocument("1.2.3"));
    expect([valid, errors, validator.version]).toEqual([true, undefined, "3.1"]);
  });

  test("refers to nothing that is not there, and has no schema that nothing refers to", () => {
    const references = [...JSON.stringify(document).matchAll(/"\$ref":"#\/([^"]+)"/g)].map(([, path = ""]) => path);
    for (const path of new Set(references)) expect(at(...path.split("/"))).toBeDefined();
    const used = new Set(references.map((path) => path.split("/").at(-1)));
    expect(Object.keys(at("components", "schemas")).filter((name) => !used.has(name))).toEqual([]);
  });

  test("has every operation of the table under its name, with what a user needs for it", () => {
    for (const name of operationNames)
      expect(entry(name)).toMatchObject({
        operationId: name,
        "x-rigbridge-needs": operations[name].access.privilege,
      });
  });

  test("marks the Rigbridge extensions and nothing else", () => {
    for (const name of operationNames) {
      const isExtension = "extension" in operations[name];
      const { summary, "x-rigbridge-addition": addition } = entry(name);
      const isMarked = String(summary).endsWith(" (Rigbridge extension)");
      expect([name, addition, isMarked]).toEqual([name, isExtension ? true : undefined, isExtension]);
    }
  });

  test("has one type of success for each operation: rows and tables have paths of their own", () => {
    const types = Object.values(at("paths")).flatMap((path) =>
      Object.values(isJson(path) ? path : {}).flatMap((each) => {
        const { operationId, responses } = isJson(each) ? each : {};
        const contents = Object.entries(isJson(responses) ? responses : {}).flatMap(([status, response]) =>
          /^2/.test(status) && isJson(response) && isJson(response.content) ? [JSON.stringify(response.content)] : [],
        );
        const names = contents.flatMap((content) => Object.keys(JSON.parse(content)));
        return [[operationId, new Set(contents).size, new Set(names).size] as const];
      }),
    );
    expect(types.length).toBeGreaterThan(operationNames.length);
    expect(types.filter(([, contents, names]) => contents > 1 || names > 1)).toEqual([]);
    expect(at("paths", "/api/miners/rows", "get", "responses", "200", "content")).toEqual({
      "application/vnd.rigbridge.rows+json": { schema: { $ref: "#/components/schemas/MinerRowList" } },
    });
    expect(entry("listMiners").description).toContain("With `view=list` (Rigbridge extension), this path answers as");
    const events = at("paths", "/api/events/rows", "get", "responses", "200", "content", "text/event-stream");
    expect(events["x-rigbridge-event"]).toEqual({ $ref: "#/components/schemas/RowEvent" });
    const tables = Object.keys(at("paths")).filter((path) => path.endsWith(".csv"));
    expect(tables).toEqual([
      "/api/places.csv",
      "/api/miners/{id}/history.csv",
      "/api/money.csv",
      "/api/summary/history.csv",
      "/api/curtailments/{id}/report.csv",
      "/api/miners/settings.csv",
    ]);
    for (const path of tables)
      expect(Object.keys(at("paths", path, "get", "responses", "200", "content"))).toEqual(["text/csv"]);
  });

  test("has user_id on every operation, and the key as query parameter and header", () => {
    for (const name of operationNames)
      expect(entry(name).parameters).toContainEqual({ $ref: "#/components/parameters/user_id" });
    expect(at("components", "securitySchemes")).toMatchObject({
      keyInQuery: { in: "query", name: "key" },
      keyInHeader: { in: "header", name: "X-API-Key" },
    });
  });

  test("declares each path parameter of a path", () => {
    for (const name of operationNames)
      for (const [, key = ""] of operations[name].path.matchAll(/:(\w+)/g))
        expect(parameter(name, key)).toMatchObject({ in: "path", required: true });
  });

  test("describes every parameter and gives an example of it", () => {
    const parameters = operationNames.flatMap((name) => {
      const { parameters: all } = entry(name);
      return Array.isArray(all) ? all.filter((each) => isJson(each) && each.$ref === undefined) : [];
    });
    expect(parameters.length).toBeGreaterThan(operationNames.length);
    for (const each of [...parameters, at("components", "parameters", "user_id")]) {
      expect(each).toMatchObject({ description: expect.stringMatching(/\w/) });
      expect([each.name, each.schema.examples]).toEqual([each.name, [expect.anything()]]);
    }
  });

  test("contains nothing that client generators do not support", () => {
    const faults: string[] = [];
    const look = (value: unknown, path: string): void => {
      if (!isJson(value)) return;
      // Python's and Java's regular expressions know no \\p{Cc}.
      if (typeof value.pattern === "string" && value.pattern.includes("\\p{")) faults.push(`${path} pattern`);
      if ("const" in value || "prefixItems" in value || value.items === false) faults.push(path);
      const types = [value.type].flat().filter((type) => type !== undefined && type !== "null");
      // ogen knows no anyOf of objects, and Java no field called "true".
      if ("anyOf" in value || (isJson(value.properties) && "true" in value.properties)) faults.push(path);
      const names = Object.keys(isJson(value.properties) ? value.properties : {}).map((name) => name.toLowerCase());
      if (new Set(names).size < names.length) faults.push(path);
      // Without a format Go, Java, C# and Rust take 32 bits, which are too few for ids, times and hash rates.
      if (types.includes("number") && value.format !== "double") faults.push(path);
      if (types.includes("integer") && !/^int(32|64)$/.test(String(value.format))) faults.push(path);
      if (types.length > 1 || JSON.stringify(value.default) === "{}") faults.push(path);
      for (const [key, inner] of Object.entries(value)) look(inner, `${path}/${key}`);
    };
    look(document, "");
    expect(faults).toEqual([]);
    expect(at("components", "schemas", "ControlValue").oneOf).toEqual([
      { type: "string" },
      { type: "number", format: "double" },
      { type: "boolean" },
    ]);
    expect(at("components", "schemas", "History", "properties", "points", "items", "items")).toEqual({
      type: ["number", "null"],
      format: "double",
    });
  });

  test("shows numbers of the query as numbers, and the actions by name", () => {
    expect(parameter("getMiner", "id").schema).toMatchObject({
      type: "integer",
      minimum: 0,
      maximum: 99_999_999_999_999,
    });
    expect(parameter("saveCoin", "profit").schema).toMatchObject({ type: "number", minimum: 0 });
    expect(parameter("minerAction", "on").schema).toMatchObject({ type: "boolean" });
    expect(parameter("minerPoolAction", "action")).toMatchObject({
      required: true,
      schema: { enum: ["remove", "disable", "enable", "prioritize"] },
    });
  });

  test("names shared shapes instead of repeating them, groups inside groups too", () => {
    expect(at("components", "schemas", "MinerGroup", "properties", "groupList", "items")).toEqual({
      $ref: "#/components/schemas/MinerGroup",
    });
    expect(at("components", "schemas", "Miner", "properties", "readings")).toEqual({
      $ref: "#/components/schemas/Readings",
    });
  });

  test("lets replies gain fields, and bounds numbers only where the contract does", () => {
    const text = JSON.stringify(at("components", "schemas", "Miner"));
    expect(text).not.toMatch(/additionalProperties":false|9007199254740991/);
  });

  test("lists 202 where a rig may answer later, 304 for reads, and the possible failures", () => {
    expect(Object.keys(at("paths", "/api/miners/{id}", "post", "responses"))).toEqual(
      expect.arrayContaining(["200", "202", "400", "401", "403", "404", "409", "502", "504", "default"]),
    );
    expect(Object.keys(at("paths", "/api/miners", "get", "responses"))).toEqual(
      expect.arrayContaining(["200", "304", "404"]),
    );
    expect(Object.keys(at("paths", "/api/hosts/{id}/systeminfo", "get", "responses"))).toContain("409");
    expect(Object.keys(at("paths", "/api/pools", "post", "responses"))).toEqual(expect.arrayContaining(["413", "415"]));
    expect(Object.keys(at("paths", "/api/miners", "post", "responses"))).toContain("201");
    expect(at("components", "schemas", "Problem", "properties", "code").enum).toEqual(Object.keys(problems));
  });

  test("shows the stream as server-sent events", () => {
    const stream = at("paths", "/api/events", "get", "responses", "200", "content", "text/event-stream");
    expect(stream["x-rigbridge-event"]).toEqual({ $ref: "#/components/schemas/ServiceEvent" });
    expect(entry("watchEvents").description).toMatch(/miner-removed/);
  });
});

describe("/openapi.json", () => {
  let served: Served;
  beforeAll(async () => {
    served = await serve({ key: "correct-horse-battery" });
  });
  afterAll(() => served.server.close());

  test("is the document, and requires no key", async () => {
    const { status, json, headers } = await served.ask("GET", "/openapi.json");
    expect([status, json]).toEqual([200, document]);
    expect(headers).toMatchObject({ "content-type": "application/json; charset=utf-8", "cache-control": "no-cache" });
  });

  test("is not sent again to a client that has it", async () => {
    const { etag = "" } = (await served.ask("GET", "/openapi.json")).headers;
    const again = await served.ask("GET", "/openapi.json", { headers: { "if-none-match": etag } });
    expect([again.status, again.text]).toEqual([304, ""]);
  });

  test("follows the Host rule and the methods of the path", async () => {
    const strange = await served.ask("GET", "/openapi.json", { headers: { host: "evil.example" } });
    expect([strange.status, strange.json.code]).toEqual([421, "host.unknown"]);
    const post = await served.ask("POST", "/openapi.json?key=correct-horse-battery");
    expect([post.status, post.headers.allow]).toEqual([405, "GET, HEAD, OPTIONS"]);
    expect((await served.ask("HEAD", "/openapi.json")).status).toBe(200);
  });
});
