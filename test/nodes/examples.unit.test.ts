import { readdirSync, readFileSync } from "node:fs";
import { describe, expect, test } from "@jest/globals";
import { z } from "zod";
import { exampleService, examples, Flow } from "./examples-flow.ts";
import type { FlowNode } from "./real-node-red.ts";

// depends on: nodes/**

const folder = new URL("../../nodes/", import.meta.url);
const read = (file: string): string => readFileSync(new URL(file, folder), "utf8");
const json = (file: string): unknown => JSON.parse(read(file));
const flows = examples.map((name) => ({ name, flow: Flow.parse(json(`examples/${name}.json`)) }));
const Package = z.object({ "node-red": z.object({ nodes: z.record(z.string(), z.string()) }) });
const own = Object.keys(Package.parse(json("package.json"))["node-red"].nodes);

/** Nodes of Node-RED itself, without access to files and programs. */
const core = [
  ...["tab", "comment", "inject", "debug", "catch", "function", "switch", "change", "trigger"],
  ...["http in", "http response", "http request"],
];

/** Of a package that its comment names. */
const dashboard = ["ui-base", "ui-theme", "ui-page", "ui-group", "ui-table", "ui-text", "ui-chart", "ui-button"];

const Placed = z.object({
  id: z.string(),
  x: z.number(),
  y: z.number(),
  name: z.string(),
  type: z.string(),
  wires: z.array(z.array(z.string())),
  method: z.string().optional(),
  url: z.string().optional(),
});
/** As the node shows it. */
function labelOf({ name, type, method, url }: z.infer<typeof Placed>): string {
  if (name !== "") return name;
  return type === "http in" ? `[${method}] ${url}` : type === "http response" ? "http" : type;
}

const placed = (flow: readonly FlowNode[]) => flow.flatMap((node) => Placed.safeParse(node).data ?? []);

describe("the examples of the Import dialog", () => {
  test("are those in the folder, and use each of the nodes", () => {
    const files = readdirSync(new URL("examples", folder));
    expect(files.toSorted()).toEqual(examples.map((name) => `${name}.json`).toSorted());
    expect([exampleService.type, ...flows.flatMap(({ flow }) => flow.map(({ type }) => type))]).toEqual(
      expect.arrayContaining(own),
    );
  });

  test("share one service, which the editor adds, and have no secrets", () => {
    const services = flows.flatMap(({ flow }) => flow.flatMap(({ service }) => service ?? []));
    expect([...new Set(services)]).toEqual([exampleService.id]);
    expect(read("resources/rigbridge.js")).toContain(`const exampleService = "${exampleService.id}"`);
    expect(JSON.stringify(flows)).not.toMatch(/"rigbridge-service"|"credentials"|"(key|password|token)":/);
  });
});

describe.each(flows)("the example $name", ({ name, flow }) => {
  test("has only nodes of this package and of Node-RED itself, each with its own id and in its flow", () => {
    const known = [...core, ...own, ...(name === "dashboard" ? dashboard : [])];
    for (const { type } of flow) expect(known).toContain(type);
    const ids = flow.map(({ id }) => id);
    expect(new Set(ids).size).toBe(ids.length);
    const [tab, ...others] = flow.filter(({ type }) => type === "tab");
    expect(others).toEqual([]);
    for (const { type, z: at } of flow)
      if (type !== "tab" && !/^ui-(base|theme|page|group)$/.test(type)) expect(at).toBe(tab?.id);
  });

  test("has wires and scopes that exist", () => {
    const ids = flow.map(({ id }) => id);
    for (const { wires } of placed(flow)) for (const id of wires.flat()) expect(ids).toContain(id);
    for (const { scope, type } of flow) {
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

  test("has no overlapping nodes, and fits into the editor of a window 1500 px wide", () => {
    const boxes = placed(flow).map((node) => {
      const name = labelOf(node);
      // As Node-RED draws it, on the grid; a debug node has a button at its end, an inject node at its start.
      const half = Math.max(100, 20 * Math.ceil((name.length * 7.7 + 50) / 20)) / 2;
      const right = node.x + half + (node.type === "debug" ? 30 : 0);
      const left = node.x - half - (node.type === "inject" ? 30 : 0);
      return { name, left, right, top: node.y - 15, bottom: node.y + 15 };
    });
    for (const a of boxes) {
      expect([a.name, a.left >= 0 && a.top >= 0 && a.right <= 1000]).toEqual([a.name, true]);
      const over = boxes.filter(
        (b) => b !== a && a.left < b.right && b.left < a.right && a.top < b.bottom && b.top < a.bottom,
      );
      expect([a.name, over.map(({ name }) => name)]).toEqual([a.name, []]);
    }
  });
});
