import { createServer, type Server, type Socket } from "node:net";
import { afterEach, describe, expect, test } from "@jest/globals";
import { noMessages } from "../../src/contract/messages.ts";
import type { Input } from "../../src/contract/service.ts";
import { parseAddress } from "../../src/link/address.ts";
import { drivers } from "../../src/link/drivers/index.ts";
import { identify } from "../../src/link/identify.ts";
import { openPlug } from "../../src/link/plugs/open-plug.ts";
import { PluggedRig } from "../../src/link/plugs/plugged-rig.ts";
import { framed } from "../../src/link/transports/frames.ts";
import { problem } from "../errors.ts";
import { ownHost } from "../own-host.ts";
import { type Bench, caller, closeBenches, openBench } from "./bench.ts";

const servers: Server[] = [];
afterEach(async () => {
  await closeBenches();
  for (const server of servers.splice(0)) server.close();
});

/** What another service at the address says, which nobody may read through Rigbridge. */
const word = "Secret-Of-Another-Service";
const page = (status: string, body: string, headers: readonly string[] = []): string =>
  [
    `HTTP/1.1 ${status}`,
    `Server: ${word}`,
    `Content-Length: ${body.length}`,
    ...headers,
    "Connection: close",
    "",
    body,
  ].join("\r\n");

/** Every place in which a service may carry what it has to say. */
const answers: readonly (readonly [string, string | Buffer])[] = [
  ["a banner", `${word} ready\r\n`],
  ["an error line", `-ERR ${word}\r\n`],
  ["JSON that is no rig's", `{"error":{"message":"${word}"},"message":"${word}","msg":"${word}"}`],
  ["broken JSON", `{"${word}`],
  ["an RPC refusal", `{"STATUS":[{"STATUS":"E","Code":14,"Msg":"${word}"}],"id":1}\0`],
  ["an RPC refusal in one object", `{"STATUS":"E","When":1,"Code":23,"Msg":"${word}","Description":""}`],
  ["a frame", framed(JSON.stringify({ code: -4, msg: word }))],
  ["a frame of text", framed(word)],
  ["a page", page("200 OK", `<html><title>${word}</title>${word}</html>`)],
  ["a text", page("200 OK", word)],
  ["a reason", page(`404 ${word}`, "")],
  ["a refusal in text", page("404 Not Found", word)],
  ["a fault in text", page("500 Oops", word)],
  ["a refusal in JSON", page("403 Forbidden", `{"message":"${word}","error":"${word}","err":"${word}"}`)],
  ["too many requests", page("429 Slow", `{"err":"${word}","error":"${word}"}`)],
  ["a login", page("401 Unauthorized", word, [`WWW-Authenticate: Basic realm="${word}"`])],
  ["a digest login", page("401 No", word, [`WWW-Authenticate: Digest realm="${word}", nonce="1", qop="auth"`])],
  ["a redirect", page("302 Found", word, [`Location: http://127.0.0.1/${word}`])],
  ["JSON over HTTP", page("200 OK", `{"errors":[{"message":"${word}"}],"err":"${word}"}`)],
  ["broken JSON over HTTP", page("200 OK", `{"${word}`)],
];

/** Answers whatever is asked, also at what a login would be sent to. */
async function service(answer: string | Buffer, host: string): Promise<{ address: string; asked(): number }> {
  let asked = 0;
  const server = createServer((socket: Socket) => {
    socket.on("error", () => socket.destroy());
    socket.once("data", () => {
      asked += 1;
      socket.end(answer);
    });
  });
  servers.push(server);
  await new Promise<void>((resolve) => server.listen(0, host, resolve));
  const bound = server.address();
  return { address: `${host}:${typeof bound === "object" ? bound?.port : 0}`, asked: () => asked };
}

const login = { username: "root", password: "a-password", token: "a-token" };

/** All that a caller of the API is told of a miner, whatever was tried with it. */
async function told(bench: Bench, id: number): Promise<string> {
  const { service } = bench;
  const failures: unknown[] = [];
  const tryIt = (promise: Promise<unknown>) =>
    promise.then(
      (reply) => failures.push(reply),
      (error: unknown) => failures.push(error instanceof Error ? error.message : error),
    );
  for (let reads = 0; reads < 3; reads += 1) await tryIt(bench.poll(id));
  for (const action of ["stop", "start"] as const) await tryIt(bench.act(id, { action }));
  const detail = await bench.get(id);
  const list = await service.listMiners({}, caller);
  const encoded = service.encoded?.("listMiners", {}, caller)?.chunks.map(String);
  return JSON.stringify([failures, detail, list, encoded, await bench.commands(id), await bench.notifications()]);
}

describe.each(answers)("where %s answers", (_name, answer) => {
  test("a miner reveals nothing of it, whatever its driver", async () => {
    const bench = await openBench({ config: { poll: { interval: 3600, timeout: 0.5 } } });
    const tried = [undefined, ...drivers.map(({ id }) => id)].map(async (driver) => {
      const { address, asked } = await service(answer, ownHost());
      const named: Partial<Input<"addMiner">> = driver === undefined ? {} : { driver };
      const { id } = await bench.service.addMiner({ address, ...named, ...login }, caller);
      expect(await told(bench, id)).not.toContain(word);
      expect(asked()).toBeGreaterThan(0);
    });
    await Promise.all(tried);
  });

  test("a plug reveals nothing of it, whatever its type", async () => {
    const types = ["shelly", "tasmota"] as const;
    const bench = await openBench({ rigs: types.map(() => ({ kind: "cgminer", hardware: "sticks", warm: true })) });
    const tried = types.map(async (type, index) => {
      const { address, asked } = await service(answer, ownHost());
      const supply = { type, address, channel: 0, cutPower: true, delay: 0, password: "a-password" };
      const id = await bench.add(bench.rig(index).address, { supply });
      expect(JSON.stringify(await bench.get(id))).not.toContain(word);
      expect((await bench.get(id)).readings.notes.join()).toContain("its plug cannot be read");
      const rig = new PluggedRig({
        plug: openPlug(supply, { messages: noMessages, now: Date.now }),
        settings: supply,
        connect: async (signal) => (await identify(parseAddress(bench.rig(index).address), {}, signal)).rig,
        shape: () => ({ controls: [], layout: { boards: [], fans: 0 } }),
      });
      await rig.read(AbortSignal.timeout(5_000));
      const asks = asked();
      expect((await problem(rig.set("mining", false, AbortSignal.timeout(5_000)))).message).not.toContain(word);
      expect(asked()).toBeGreaterThan(asks);
      rig.close();
    });
    await Promise.all(tried);
  });
});
