import type { IncomingMessage, ServerResponse } from "node:http";
import { afterEach, describe, expect, test } from "@jest/globals";
import { pino } from "pino";
import { connectService } from "../../src/client/index.ts";
import { HttpSettings } from "../../src/config/schema.ts";
import type { Caller } from "../../src/contract/service.ts";
import { startHttpServer } from "../../src/http/index.ts";
import { problem, refusal } from "../errors.ts";
import { onTestFinished } from "../finished.ts";
import { startRelay } from "../relay.ts";
import { caller, closeBenches, openBench } from "../service/bench.ts";
import { answering, closeServers, reference, sendJson } from "./servers.ts";

afterEach(async () => {
  await closeServers();
  await closeBenches();
});

const reboot = { id: 7, action: "reboot" } as const;
const withKey: Caller = { actor: "test", idempotency: { key: "own" } };

test("a command whose answer the line loses is repeated by the client, and the rig gets it once", async () => {
  const bench = await openBench({ rigs: [{ kind: "axeos", warm: true }] });
  const id = await bench.add(bench.rig(0).address, { driver: "axeos" });
  const { service } = bench;
  const settings = HttpSettings.parse({ port: 0 });
  const server = await startHttpServer({ service, settings, log: pino({ level: "silent" }), version: "1" });
  onTestFinished(() => server.close());
  const cut: string[] = [];
  const relay = await startRelay({ ...server.address }, (client, behind) => {
    let isLost = false;
    client.on("data", (bytes) => {
      const [line = ""] = bytes.toString("latin1").split("\r\n");
      isLost = line.startsWith("POST") && cut.length < 2;
      if (isLost) cut.push(line);
      behind.write(bytes);
    });
    behind.on("data", (bytes) => (isLost ? client.destroy() : client.write(bytes)));
  });
  onTestFinished(() => relay.close());
  const client = connectService({ url: `http://127.0.0.1:${relay.port}` });
  onTestFinished(() => client.close());
  const reply = await client.minerAction({ id, action: "locate", on: true }, caller);
  expect(reply).toMatchObject({ success: true, state: "done" });
  expect(cut).toHaveLength(2);
  expect(bench.rig(0).requests.writes).toHaveLength(1);
  expect(await bench.commands(id)).toHaveLength(1);
});

/** A Rigbridge with these parameters in its OpenAPI document, which answers commands as it is told; their keys. */
async function rigbridge(
  parameters: object,
  answer: (response: ServerResponse, request: IncomingMessage) => void,
): Promise<{ readonly client: ReturnType<typeof connectService>; readonly keys: (string | undefined)[] }> {
  const keys: (string | undefined)[] = [];
  const document = {
    info: { "x-rigbridge": true },
    paths: { "/api/miners/{id}": { post: { operationId: "minerAction" } } },
    components: { parameters },
  };
  const { url } = await answering((request, response) => {
    if (request.method === "GET") return sendJson(response, document);
    keys.push(request.headers["idempotency-key"]?.toString());
    answer(response, request);
  });
  const client = connectService({ url });
  onTestFinished(() => client.close());
  return { client, keys };
}
const takesKeys = { "Idempotency-Key": {} };

describe("a write", () => {
  test.each([
    ["breaks off", (response: ServerResponse) => response.destroy()],
    ["gets a proxy's page", (response: ServerResponse) => response.writeHead(502).end("<html>Bad gateway</html>")],
  ])("that %s is sent twice more, always with the same key", async (_, answer) => {
    const { client, keys } = await rigbridge(takesKeys, answer);
    expect(await refusal(client.minerAction(reboot, caller))).toBe("service.unreachable");
    expect(keys).toHaveLength(3);
    expect(new Set(keys)).toEqual(new Set([expect.stringMatching(/^[0-9a-f]{32}$/)]));
    await problem(client.minerAction(reboot, caller));
    expect(new Set(keys).size).toBe(2);
    await problem(client.minerAction(reboot, withKey));
    expect(keys.at(-1)).toBe("own");
  });

  test("is never repeated after a clear refusal", async () => {
    const refused = { type: "urn:rigbridge:problem:rig.timeout", code: "rig.timeout", detail: "The rig is slow" };
    const { client, keys } = await rigbridge(takesKeys, (response) => sendJson(response, refused, 504));
    expect(await refusal(client.minerAction(reboot, caller))).toBe("rig.timeout");
    expect(keys).toHaveLength(1);
  });

  test("to an older Rigbridge has no key and is not repeated, and a caller's key is refused", async () => {
    const { client, keys } = await rigbridge({}, (response) => response.destroy());
    expect(await refusal(client.minerAction(reboot, caller))).toBe("service.unreachable");
    expect(keys).toEqual([undefined]);
    expect(await refusal(client.minerAction(reboot, withKey))).toBe("service.unsupported");
    expect(keys).toHaveLength(1);
  });

  test("to a foreign server with a caller's key is refused", async () => {
    const { url } = await reference({});
    const client = connectService({ url });
    onTestFinished(() => client.close());
    expect(await refusal(client.minerPoolAction({ id: 7, poolId: 1, action: "enable" }, withKey))).toBe(
      "service.unsupported",
    );
  });
});
