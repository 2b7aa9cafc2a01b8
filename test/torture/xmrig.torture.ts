import { spawn } from "node:child_process";
import { once } from "node:events";
import { accessSync, constants, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { createServer } from "node:net";
import { tmpdir } from "node:os";
import { delimiter, dirname, join } from "node:path";
import { stringify } from "yaml";
import { z } from "zod";
import { until } from "../until.ts";
import { Verdict } from "./measure.ts";
import { main, startProcess } from "./process.ts";
import { say } from "./say.ts";

/**
 * A real XMRig as a managed miner, from RIGBRIDGE_XMRIG or the PATH, between two real processes: the service and a host's
 * agent. Its pool takes the login and gives no work, so nothing is hashed.
 */
const software = process.env.RIGBRIDGE_XMRIG ?? onPath("xmrig");
if (software === null) {
  say("skipped: there is no XMRig; name one in RIGBRIDGE_XMRIG (Debian unstable has the package xmrig)");
  process.exit(0);
}

function onPath(name: string): string | null {
  const files = (process.env.PATH ?? "").split(delimiter).map((folder) => join(folder, name));
  return files.find((file) => isExecutable(file)) ?? null;
}

function isExecutable(file: string): boolean {
  try {
    accessSync(file, constants.X_OK);
    return true;
  } catch {
    return false;
  }
}

const key = "a-key-for-xmrig-and-its-agent";
const folder = mkdtempSync(join(tmpdir(), "rigbridge-xmrig-"));
const verdict = new Verdict();
const logins: unknown[] = [];
/** Stratum: a line of JSON each. */
const pool = createServer((socket) => {
  socket.on("error", () => undefined);
  socket.setEncoding("utf8").on("data", (text: string) => {
    for (const line of text.split("\n").filter((each) => each.trim() !== "")) {
      const { id, method, params } = z
        .object({ id: z.int(), method: z.string(), params: z.unknown() })
        .parse(JSON.parse(line));
      if (method === "login") logins.push(params);
      // A login without a job: it waits for one.
      socket.write(`${JSON.stringify({ id, jsonrpc: "2.0", error: null, result: { id: "1", status: "OK" } })}\n`);
    }
  });
});
pool.listen(0, "127.0.0.1");
await once(pool, "listening");
const address = pool.address();
const poolPort = typeof address === "object" && address !== null ? address.port : 0;

const service = await startProcess({ config: { http: { key }, poll: { interval: 2 } } });
const ask = async (method: string, path: string, body?: object): Promise<unknown> => {
  const { status, text } = await service.ask(method, path, {
    headers: { "content-type": "application/json" },
    body: body === undefined ? undefined : JSON.stringify(body),
  });
  if (status >= 300) throw new Error(`${method} ${path}: ${status} ${text}`);
  return text === "" ? null : JSON.parse(text);
};
const Id = z.object({ id: z.int() });
const Miner = z.object({
  statusInfo: z.object({ statusDisplay: z.string() }),
  softwareType: z.string(),
  identity: z.object({ firmware: z.string().nullable() }),
  readings: z.object({
    at: z.string().nullable(),
    stale: z.boolean(),
    reason: z.object({ text: z.string() }).nullable(),
  }),
});
const Managed = z.object({ status: z.string() });
const miner = async (id: number) => Miner.parse(await ask("GET", `/api/miners/${id}`));
const status = async (id: number) => Managed.parse(await ask("GET", `/api/managedminers/${id}`)).status;

const host = Id.parse(await ask("POST", "/api/hosts", { hostname: "this-machine" }));
const { token } = z.object({ token: z.string() }).parse(await ask("POST", "/api/agents", { hostId: host.id }));
const configuration = join(folder, "agent.yaml");
const settings = { service: `http://127.0.0.1:${service.port}`, token, data: join(folder, "agent") };
writeFileSync(configuration, stringify({ ...settings, allow: { folders: [dirname(software)] } }), { mode: 0o600 });
const startAgent = () => {
  const child = spawn(
    process.execPath,
    ["--disable-warning=ExperimentalWarning", main, "agent", "--config", configuration],
    {
      stdio: ["ignore", "ignore", "inherit"],
    },
  );
  return { child, ended: once(child, "close") };
};
let agent = startAgent();
const pids = async (): Promise<string[]> => {
  const found = spawn("pgrep", ["-f", `^${software}`], { stdio: ["ignore", "pipe", "ignore"] });
  let text = "";
  found.stdout.setEncoding("utf8").on("data", (part: string) => (text += part));
  await once(found, "close");
  return text.split("\n").filter((each) => each !== "");
};

try {
  const { id: poolId } = Id.parse(
    await ask("POST", "/api/pools", {
      description: "local",
      url: `stratum+tcp://127.0.0.1:${poolPort}`,
      workerName: "worker",
    }),
  );
  const connected = async () => {
    const { agent: seen } = z
      .object({ agent: z.object({ connected: z.boolean() }) })
      .parse(await ask("GET", `/api/hosts/${host.id}`));
    return seen.connected;
  };
  await until(connected, "the agent to connect", { timeoutMs: 30_000 });
  const { id } = Id.parse(
    await ask("POST", "/api/managedminers", {
      description: "XMRig",
      hostId: host.id,
      poolId,
      softwareType: "XmrigMiner",
      algorithm: "randomx",
      softwareAutoDownload: false,
      softwarePath: software,
    }),
  );
  const before = await miner(id);
  verdict.check(
    `before the first start it is ${before.statusInfo.statusDisplay}`,
    before.statusInfo.statusDisplay === "Stopped",
  );
  await ask("POST", `/api/miners/${id}?action=start`);
  await until(async () => !(await miner(id)).readings.stale, "XMRig to be read through the agent", {
    timeoutMs: 30_000,
  });
  const read = await miner(id);
  verdict.check(`it is read: ${read.identity.firmware}`, read.identity.firmware?.startsWith("XMRig ") === true);
  verdict.check("it logged in at its pool", logins.length > 0);
  const [first = ""] = await pids();
  process.kill(Number(first), "SIGKILL");
  await until(async () => (await pids()).some((pid) => pid !== first), "it to be started again", { timeoutMs: 60_000 });
  verdict.check("killed, it is started again, once", (await pids()).length === 1);
  const [second = ""] = await pids();
  agent.child.kill("SIGKILL");
  await agent.ended;
  verdict.check("it runs on without the agent", (await pids()).includes(second));
  agent = startAgent();
  await until(async () => (await connected()) && (await status(id)) === "running", "the agent to adopt it", {
    timeoutMs: 30_000,
  });
  verdict.check("the next agent adopts it", (await pids()).join() === second);
  await ask("POST", `/api/miners/${id}?action=stop`);
  verdict.check("stopped, it has ended", (await pids()).length === 0);
  await until(async () => (await miner(id)).statusInfo.statusDisplay === "Stopped", "it to be shown as stopped");
  await ask("POST", `/api/miners/${id}?action=start`);
  await until(async () => !(await miner(id)).readings.stale, "it to be read again", { timeoutMs: 30_000 });
  verdict.check("started, it runs again", (await pids()).length === 1);
  await ask("POST", `/api/miners/${id}?action=stop`);
} finally {
  agent.child.kill("SIGTERM");
  await agent.ended;
  await service.close();
  pool.close();
  rmSync(folder, { recursive: true, force: true });
}
verdict.end();
