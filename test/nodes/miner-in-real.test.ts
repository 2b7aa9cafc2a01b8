import { afterEach, describe, expect, test } from "@jest/globals";
import { until } from "../until.ts";
import { startNodeRed, versions } from "./real-node-red.ts";
import { openElsewhere } from "./service-kinds.ts";

const closers: (() => Promise<unknown>)[] = [];
afterEach(async () => {
  for (const close of closers.splice(0).reverse()) await close();
});

const common = { z: "tab", version: 1, service: "service" };
const debug = (id: string) => ({
  id,
  type: "debug",
  z: "tab",
  active: true,
  tosidebar: true,
  complete: "true",
  targetType: "full",
  wires: [],
});

describe.each(versions)("Node-RED %i", (version) => {
  test("runs miner in, miner get and summary in", async () => {
    const service = await openElsewhere();
    closers.push(() => service.close());
    const red = await startNodeRed(version);
    closers.push(() => red.close());
    await red.deploy(
      [
        { id: "tab", type: "tab", label: "Test" },
        service.node,
        { id: "in", type: "rigbridge-miner-in", ...common, scope: "all", interval: 3600, wires: [["states"]] },
        {
          id: "limit",
          type: "rigbridge-miner-in",
          ...common,
          scope: "group",
          group: "Hall A",
          outputs: 2,
          when: "threshold",
          property: "power",
          is: "above",
          threshold: 1,
          basis: "value",
          unit: "W",
          hold: 0,
          wires: [["begun"], []],
        },
        { id: "go", type: "inject", z: "tab", props: [], wires: [["get"]] },
        {
          id: "get",
          type: "rigbridge-miner-get",
          ...common,
          scope: "miners",
          miners: "Rig A",
          what: "history",
          from: "from",
          fromType: "msg",
          to: "",
          step: "0",
          wires: [["points"]],
        },
        { id: "sum", type: "rigbridge-summary-in", ...common, wires: [["summary"]] },
        { id: "catch", type: "catch", z: "tab", scope: null, wires: [["errors"]] },
        ...["states", "begun", "points", "summary", "errors"].map(debug),
      ],
      service.credentials,
    );
    const details = (): string => `${red.log()}\n${JSON.stringify(red.messages("errors"))}`;
    await until(
      () => red.messages("states").length === 3 && red.messages("summary").length > 0,
      "the states of all miners and the summary",
      { details },
    );
    expect(red.messages("summary")[0]).toMatchObject({ payload: { miners: 3 }, topic: "summary" });
    await until(() => red.messages("begun").length > 0, "the message that the power exceeds the limit", {
      details: details,
    });
    expect(red.messages("begun")[0]).toMatchObject({ condition: { state: "begun", property: "power", unit: "W" } });
    await red.inject("go", { from: "1 h" });
    await until(() => red.messages("points").length === 1, "the history of Rig A", { details });
    expect(red.messages("points")[0]).toMatchObject({ payload: expect.any(Array), topic: expect.any(String) });
    await red.inject("go", { from: "yesterday" });
    await until(() => red.messages("errors").length === 1, "the error about the invalid time", { details });
    expect(red.messages("errors")[0]).toMatchObject({
      error: { message: expect.stringMatching(/From: must be a time/), code: "input.invalid" },
    });
  });
});
