import { readdirSync, readFileSync } from "node:fs";
import { describe, expect, test } from "vitest";
import { z } from "zod";
import { examples, Flow } from "./examples-flow.ts";
import type { FlowNode } from "./real-node-red.ts";

// depends on: nodes/**

const folder = new URL("../../nodes/", import.meta.url);
const read = (file: string): unknown => JSON.parse(readFileSync(new URL(file, folder), "utf8"));
const flows = examples.map((name) => ({ name, flow: Flow.parse(read(`examples/${name}.json`)) }));
const Package = z.object({ "node-red": z.object({ nodes: z.record(z.string(), z.string()) }) });
const own = Object.keys(Package.parse(read("package.json"))["node-red"].nodes);

/** Nodes of Node-RED itself, without access to files and programs. */
const core = [
  ...["tab", "comment", "inject", "debug", "catch", "function", "switch", "change", "trigger"],
  ...["http in", "http response", "http request"],
];

const Placed = z.object({
  id: z.string(),
  x: z.number(),
  y: z.number(),
  name: z.string(),
  type: z.string(),
  wires: z.array(z.array(z.string())),
});
const placed = (flow: readonly FlowNode[]) => flow.flatMap((node) => Placed.safeParse(node).data ?? []);

describe("the examples of the Import dialog", () => {
  test("are those in the folder, and use each of the nodes", () => {
    const files = readdirSync(new URL("examples", folder));
    expect(files.toSorted()).toEqual(examples.map((name) => `${name}.json`).toSorted());
    expect([...new Set(flows.flatMap(({ flow }) => flow.map(({ type }) => type)))]).toEqual(
      expect.arrayContaining(own),
    );
  });

  test("share one service without secrets, at the default port", () => {
    const services = flows.map(({ flow }) => flow.filter(({ type }) => type === "rigbridge-service"));
    for (const service of services) expect(service).toEqual(services[0]);
    expect(services[0]).toEqual([expect.objectContaining({ mode: "elsewhere", url: "http://127.0.0.1:17790" })]);
    expect(JSON.stringify(flows)).not.toMatch(/"credentials"|"(key|password|token)":/);
  });
});

describe.each(flows)("the example $name", ({ flow }) => {
  test("has only nodes of this package and of Node-RED itself, each with its own id and in its flow", () => {
    for (const { type } of flow) expect([...core, ...own]).toContain(type);
    const ids = flow.map(({ id }) => id);
    expect(new Set(ids).size).toBe(ids.length);
    const [tab, ...others] = flow.filter(({ type }) => type === "tab");
    expect(others).toEqual([]);
    for (const { type, z: at } of flow) if (type !== "tab" && type !== "rigbridge-service") expect(at).toBe(tab?.id);
  });

  test("has wires, services and scopes that exist", () => {
    const ids = flow.map(({ id }) => id);
    for (const { wires } of placed(flow)) for (const id of wires.flat()) expect(ids).toContain(id);
    for (const { service, scope, type } of flow) {
      if (type.startsWith("rigbridge-") && type !== "rigbridge-service") expect(ids).toContain(service);
      if (type === "catch")
        for (const id of z.array(z.string()).nullable().parse(scope) ?? []) expect(ids).toContain(id);
    }
  });

  test("explains what it does and what to change", () => {
    const [first] = flow.filter(({ type }) => type === "comment");
    expect(first?.name).toMatch(/.{20,}/);
    expect(first?.info).toMatch(/\*\*To change\*\*/);
  });

  test("sends errors to a debug node", () => {
    const all = placed(flow);
    const reached = new Set(all.filter(({ type }) => type === "catch").flatMap(({ wires }) => wires.flat()));
    for (const id of reached)
      for (const next of all.find((each) => each.id === id)?.wires.flat() ?? []) reached.add(next);
    expect(all.filter(({ id }) => reached.has(id)).map(({ name }) => name)).toContain("trouble");
  });

  test("has no overlapping nodes", () => {
    const boxes = placed(flow).map(({ x, y, name, type }) => {
      const half = Math.max(100, (name || type).length * 6.8 + 50) / 2;
      return { name: name || type, left: x - half, right: x + half, top: y - 15, bottom: y + 15 };
    });
    for (const a of boxes) {
      expect([a.name, a.left >= 0 && a.top >= 0]).toEqual([a.name, true]);
      const over = boxes.filter(
        (b) => b !== a && a.left < b.right && b.left < a.right && a.top < b.bottom && b.top < a.bottom,
      );
      expect([a.name, over.map(({ name }) => name)]).toEqual([a.name, []]);
    }
  });
});
