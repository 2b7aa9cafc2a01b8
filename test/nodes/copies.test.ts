import { afterEach, describe, expect, test } from "@jest/globals";
import registerAction from "../../nodes/miner-action/rigbridge-miner-action.ts";
import registerGet from "../../nodes/miner-get/rigbridge-miner-get.ts";
import registerIn from "../../nodes/miner-in/rigbridge-miner-in.ts";
import registerService from "../../nodes/service/rigbridge-service.ts";
import registerSummary from "../../nodes/summary-in/rigbridge-summary-in.ts";
import { until } from "../until.ts";
import { openFlow } from "./bench-flow.ts";
import type { FlowNode } from "./real-node-red.ts";
import { serviceKinds } from "./service-kinds.ts";

const closers: (() => Promise<void>)[] = [];
afterEach(async () => {
  for (const close of closers.splice(0).reverse()) await close();
});

/** As the worst Function node does with a message. */
function spoil(value: unknown): void {
  if (typeof value !== "object" || value === null) return;
  for (const [key, inner] of Object.entries(value)) {
    spoil(inner);
    if (typeof inner !== "object" || inner === null) Reflect.set(value, key, "spoilt");
  }
}

const registers = [registerService, registerIn, registerGet, registerSummary, registerAction];

describe.each(serviceKinds)("on $name", (kind) => {
  test("a flow that changes its messages changes nothing for the other nodes", async () => {
    const service = await kind.open();
    closers.push(() => service.close());
    const shared = { version: 1, service: "service" };
    const one = { scope: "miners", miners: service.steered };
    const nodes: FlowNode[] = [
      { id: "in", type: "rigbridge-miner-in", ...shared, ...one, interval: 1, repeat: true },
      {
        id: "list",
        type: "rigbridge-miner-in",
        ...shared,
        scope: "all",
        interval: 1,
        repeat: true,
        output: "together",
      },
      { id: "get", type: "rigbridge-miner-get", ...shared, ...one },
      { id: "summary", type: "rigbridge-summary-in", ...shared, every: 1 },
      { id: "action", type: "rigbridge-miner-action", ...shared, ...one, action: "restart", dryRun: true },
    ];
    const flow = nodes.flatMap((node) => [
      { ...node, wires: [[`${node.id} out`]] },
      { id: `${node.id} out`, type: "helper" },
    ]);
    const { credentials, userDir } = service;
    const bench = await openFlow(registers, [{ ...service.node }, ...flow], { credentials, userDir });
    closers.push(() => bench.close());
    const received = (id: string) => bench.recorded(`${id} out`).messages;
    const details = () => JSON.stringify(nodes.map(({ id }) => [id, bench.recorded(id)])).slice(0, 5000);
    await until(() => bench.recorded("action").statuses.at(-1) === "green dot connected", "the nodes to connect");
    for (const id of ["get", "action"]) bench.send(id, {});
    await until(() => nodes.every(({ id }) => received(id).length > 0), "a message from each node", { details });
    for (const { id } of nodes) for (const msg of received(id)) spoil(msg);

    const before = nodes.map(({ id }) => received(id).length);
    for (const id of ["get", "action"]) bench.send(id, {});
    await until(
      () => nodes.every(({ id }, index) => received(id).length > (before[index] ?? 0)),
      "another message from each node",
      { details },
    );
    for (const { id } of nodes) expect(JSON.stringify(received(id).at(-1))).not.toContain("spoilt");
    expect(received("get").at(-1)).toMatchObject({ payload: { name: service.steered } });
    for (const { id } of nodes) expect(bench.recorded(id).errors).toEqual([]);
  });
});
