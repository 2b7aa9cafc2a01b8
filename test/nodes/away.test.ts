import { afterEach, describe, expect, test } from "@jest/globals";
import registerGet from "../../nodes/miner-get/rigbridge-miner-get.ts";
import registerService from "../../nodes/service/rigbridge-service.ts";
import { startProcess } from "../torture/process.ts";
import { until } from "../until.ts";
import { openFlow } from "./bench-flow.ts";
import { testKey } from "./service-kinds.ts";

const closers: (() => Promise<unknown>)[] = [];
afterEach(async () => {
  for (const close of closers.splice(0).reverse()) await close();
});

describe("a node whose service elsewhere hangs", () => {
  test("is red until the service goes on, and the log says once that it is gone and once that it is back", async () => {
    const { pid, port, close } = await startProcess({ config: { http: { key: testKey, port: 0 } } });
    closers.push(close);
    const shared = { version: 1, service: "service" };
    const url = `http://127.0.0.1:${port}`;
    const bench = await openFlow(
      [registerService, registerGet],
      [
        { id: "service", type: "rigbridge-service", version: 1, mode: "elsewhere", url, poll: 1 },
        { id: "get", type: "rigbridge-miner-get", ...shared, scope: "all" },
      ],
      { credentials: { service: { key: testKey } } },
    );
    closers.push(() => bench.close());
    const { statuses } = bench.recorded("get");
    await until(() => statuses.at(-1) === "green dot connected", "the node to connect");
    process.kill(pid, "SIGSTOP");
    await until(() => statuses.at(-1) === "red ring not connected: no answer", "the node to show that it hangs");
    bench.send("get", {});
    await until(() => bench.recorded("get").errors.length === 1, "the message to be refused");
    expect(bench.recorded("get").errors[0]).toMatchObject({ code: "service.unreachable" });
    process.kill(pid, "SIGCONT");
    await until(() => statuses.at(-1)?.startsWith("red ring") === false, "the node to reconnect");
    const { warnings } = bench.recorded("service");
    expect(warnings).toEqual([expect.stringMatching(/^The service cannot be watched: .*did not answer in time/)]);
  });
});
