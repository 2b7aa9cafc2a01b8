import { once } from "node:events";
import { createServer } from "node:net";
import { afterEach, expect, test } from "@jest/globals";
import { MinerDetail } from "../../src/contract/resources.ts";
import { closeBenches, openBench } from "./bench.ts";

afterEach(closeBenches);

/** A rig that answers every command with the same summary. */
async function saying(summary: object): Promise<{ port: number; close: () => void }> {
  const status = [{ STATUS: "S", When: 1, Code: 11, Msg: "Summary", Description: "cgminer 4.11.1" }];
  const section = { STATUS: status, SUMMARY: [summary], id: 1 };
  const server = createServer((socket) => {
    socket.on("error", () => socket.destroy());
    socket.once("data", (data) => {
      const joined = data.toString().includes("+");
      socket.end(`${JSON.stringify(joined ? { summary: [section], id: 1 } : section)}\0`);
    });
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  const address = server.address();
  return { port: typeof address === "object" && address !== null ? address.port : 0, close: () => server.close() };
}

test.each<[string, object]>([
  ["an uptime from before there were rigs", { Elapsed: 1e14, "MHS 5s": 1e6 }],
  ["the largest numbers there are", { Elapsed: 2 ** 62, "MHS 5s": 2 ** 43, "MHS av": 2 ** 43, Accepted: 2 ** 53 }],
  ["numbers below zero", { Elapsed: -5, "MHS 5s": -1, Accepted: -1, Rejected: -1 }],
  ["texts for numbers", { Elapsed: "long", "MHS 5s": "inf", Accepted: "<b>1</b>" }],
  ["nothing", {}],
])("a rig that says %s is shown within the contract", async (_, summary) => {
  const rig = await saying(summary);
  const bench = await openBench({ config: { electricity: { price: 1 }, rates: { btc: 1 } } });
  const id = await bench.add(`127.0.0.1:${rig.port}`, { driver: "cgminer" });
  const shown: unknown = JSON.parse(JSON.stringify(await bench.poll(id)));
  rig.close();
  expect(MinerDetail.strict().parse(shown)).toMatchObject({ hasValidStatus: true });
});
