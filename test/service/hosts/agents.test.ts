import { once } from "node:events";
import { connect } from "node:net";
import { hostname } from "node:os";
import { afterEach, describe, expect, test } from "@jest/globals";
import { pino } from "pino";
import { agentMessageBytes, agentPath } from "../../../src/contract/agent.ts";
import { frameOf } from "../../../src/contract/agent-frames.ts";
import { problem } from "../../errors.ts";
import { until } from "../../until.ts";
import { caller, closeBenches } from "../bench.ts";
import { AgentDouble, report, stopped } from "./agent-double.ts";
import { openHosts, serviceKey } from "./hosts-bench.ts";

afterEach(closeBenches);

const isConnected = async ({ bench, hostId }: Awaited<ReturnType<typeof openHosts>>) =>
  (await bench.service.getHost({ id: hostId }, caller)).agent?.connected;

describe("the token of a host's agent", () => {
  test("is shown once, stored as a digest, and there is one for a host", async () => {
    const { bench, hostId, token, tokenId } = await openHosts();
    expect(token).toMatch(/^[\w-]{43}$/);
    expect(JSON.stringify(bench.store.agents.all())).not.toContain(token);
    expect(await bench.service.listAgents({}, caller)).toEqual([{ id: tokenId, hostId, connected: false }]);
    const second = await problem(bench.service.addAgent({ hostId }, caller));
    expect([second.code, second.message]).toEqual(["in.use", expect.stringContaining(`/api/agents/${tokenId}`)]);
    expect(await problem(bench.service.addAgent({ hostId: 77 }, caller))).toMatchObject({ code: "input.invalid" });
  });

  test("is not made for the service's own machine", async () => {
    const { bench } = await openHosts({ config: { agent: { enabled: true } } });
    const own = (await bench.service.listHosts({}, caller)).find(({ description }) => description.includes("own"));
    expect(own).toMatchObject({ hostname: hostname(), agent: null });
    expect(await problem(bench.service.addAgent({ hostId: own?.id ?? 0 }, caller))).toMatchObject({
      code: "owned.by-file",
    });
  });

  test("lets its agent in, whose host shows what it reports", async () => {
    const hosts = await openHosts();
    expect(await isConnected(hosts)).toBe(false);
    const agent = await hosts.agent({ permissions: { reboot: false } });
    expect((await hosts.bench.service.getHost({ id: hosts.hostId }, caller)).agent).toMatchObject({
      tokenId: hosts.tokenId,
      connected: true,
      version: "1.2.3",
      permissions: { folders: ["/opt"], reboot: false },
      report: { name: "rig-3", cores: 8, load: 3 },
    });
    agent.cut();
    await until(async () => (await isConnected(hosts)) === false, "the agent to be away");
  });

  test("that is wrong is refused, and counts as a wrong API key does", async () => {
    const { url, token } = await openHosts();
    const refusal = (given: string) => AgentDouble.connect({ url, token: given }).catch(String);
    expect(await refusal(`${token}x`)).toContain("401");
    expect(await refusal(serviceKey)).toContain("401");
    for (let count = 0; count < 8; count += 1) await refusal(`wrong-${count}`);
    expect(await refusal("wrong-again")).toContain("429");
    const api = await fetch(`${url}/api/summary?key=wrong`);
    expect(api.status).toBe(429);
    (await AgentDouble.connect({ url, token })).cut();
  });

  test("that is revoked ends the connection at once, and lets nobody in again", async () => {
    const hosts = await openHosts();
    const { bench, url, token, tokenId } = hosts;
    const agent = await hosts.agent();
    await bench.service.deleteAgent({ id: tokenId }, caller);
    await until(() => agent.ended !== null, "the connection to end");
    expect(agent.ended).toEqual([1008, "its token was revoked"]);
    expect(await AgentDouble.connect({ url, token }).catch(String)).toContain("401");
    expect((await bench.service.getHost({ id: hosts.hostId }, caller)).agent).toBeNull();
  });

  test("of a host that is removed is revoked", async () => {
    const hosts = await openHosts();
    const agent = await hosts.agent();
    await hosts.bench.service.deleteHost({ id: hosts.hostId }, caller);
    await until(() => agent.ended !== null, "the connection to end");
    expect(await hosts.bench.service.listAgents({}, caller)).toEqual([]);
  });
});

describe("the WebSocket of agents", () => {
  test("takes a second connection with the same token instead of the first", async () => {
    const hosts = await openHosts();
    const first = await hosts.agent();
    await hosts.agent();
    await until(() => first.ended !== null, "the first connection to end");
    expect(first.ended?.[1]).toContain("has replaced this one");
    expect(await isConnected(hosts)).toBe(true);
  });

  test("refuses what other requests are refused for", async () => {
    const { url, token } = await openHosts();
    const withHeaders = (headers: Record<string, string>) =>
      AgentDouble.connect({ url, token, headers }).then(
        () => "open",
        (error: unknown) => String(error),
      );
    expect(await withHeaders({ host: "evil.example.com" })).toContain("421");
    expect(await withHeaders({ origin: "https://evil.example.com" })).toContain("403");
    expect(await withHeaders({ origin: url })).toBe("open");
    const plain = await fetch(`${url}${agentPath}`, { headers: { authorization: `Bearer ${token}` } });
    expect([plain.status, (await plain.json()).type]).toEqual([400, expect.stringContaining("input.invalid")]);
    expect((await fetch(`${url}${agentPath}`, { method: "POST", body: "{}" })).status).toBe(401);
  });

  test.each([
    ["no introduction", (agent: AgentDouble) => agent.send({ t: "done", n: 1 }), 1008],
    ["what is no message", (agent: AgentDouble) => agent.sendRaw('{"t":"hello","version":7}'), 1008],
    ["what is no JSON", (agent: AgentDouble) => agent.sendRaw("{"), 1008],
    ["a frame without a channel", (agent: AgentDouble) => agent.sendRaw(Buffer.from([1, 2])), 1008],
    ["a message that is too long", (agent: AgentDouble) => agent.sendRaw("x".repeat(agentMessageBytes + 1)), 1009],
  ])("ends at %s", async (_what, send, code) => {
    const { url, token } = await openHosts();
    const agent = await AgentDouble.connect({ url, token });
    send(agent);
    await until(() => agent.ended !== null, "the connection to end");
    expect(agent.ended?.[0]).toBe(code);
  });

  test("ends at more messages than an agent ever sends, says why, and gives a new connection no new allowance", async () => {
    const warnings: string[] = [];
    const log = pino({ level: "warn" }, { write: (line: string) => void warnings.push(line) });
    const hosts = await openHosts({ serverLog: log });
    const agent = await hosts.agent();
    const flood = (to: AgentDouble, count: number) => {
      for (let sent = 0; sent < count; sent += 1) to.send({ t: "host", host: report() });
    };
    // Most of a minute of an agent with 20 programs that are read every second, at once.
    flood(agent, 4_000);
    agent.send({ t: "host", host: { ...report(), load: 77 } });
    await until(async () => {
      const { agent: shown } = await hosts.bench.service.getHost({ id: hosts.hostId }, caller);
      return shown?.report?.load === 77;
    }, "its messages to be taken");
    expect(agent.ended).toBeNull();
    flood(agent, 20_000);
    await until(() => agent.ended !== null, "the connection to end");
    expect(agent.ended).toEqual([1008, "it sends more than 1000 messages or 10 MB a second"]);
    const second = await AgentDouble.connect({ url: hosts.url, token: hosts.token });
    for (let sent = 0; sent < 12; sent += 1) second.sendRaw(frameOf(1, Buffer.alloc(agentMessageBytes - 4)));
    flood(second, 3_000);
    await until(() => second.ended !== null, "the second connection to end");
    expect(second.ended?.[0]).toBe(1008);
    expect(warnings.filter((line) => line.includes("too much"))).toHaveLength(1);
  });

  test("ignores frames and ends of channels that it did not open", async () => {
    const hosts = await openHosts();
    const agent = await hosts.agent();
    agent.sendRaw(Buffer.from([0, 0, 0, 9, 1]));
    agent.send({ t: "closed", channel: 9 });
    agent.send({ t: "done", n: 9 });
    agent.send({ t: "program", program: { ...stopped(5), status: "running" } });
    const seen = agent.received.length;
    await hosts.bench.service.saveHost({ id: hosts.hostId, description: "still here", hostname: undefined }, caller);
    expect([await isConnected(hosts), agent.received.length]).toEqual([true, seen]);
  });

  test("does not keep a service from stopping", async () => {
    const hosts = await openHosts();
    const agent = await hosts.agent();
    await hosts.restart();
    await until(() => agent.ended !== null, "the connection to end");
    await hosts.agent();
    expect(await isConnected(hosts)).toBe(true);
  });
});

test("a request to upgrade to something else is answered as any other", async () => {
  const { url } = await openHosts();
  const { hostname, port } = new URL(url);
  const socket = connect(Number(port), hostname);
  const [head, end] = ["Connection: Upgrade, HTTP2-Settings\r\nUpgrade: h2c\r\nHTTP2-Settings: AAMAAABk", "\r\n\r\n"];
  socket.write(`GET /health HTTP/1.1\r\nHost: ${hostname}\r\n${head}${end}`);
  const [answer] = (await once(socket, "data")) as [Buffer];
  socket.destroy();
  expect(answer.toString()).toMatch(/^HTTP\/1\.1 200 /);
});
