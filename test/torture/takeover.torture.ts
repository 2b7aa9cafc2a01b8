import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as pause } from "node:timers/promises";
import { type Running, rigbridge, running } from "../cli/command.ts";
import { freePort } from "../free-port.ts";
import { hasPostgres, type Postgres, startPostgres } from "../store/postgres.ts";
import { until, within } from "../until.ts";
import { storeOfMany } from "./many-miners.ts";
import { main } from "./process.ts";
import { say } from "./say.ts";
import { sender } from "./written.ts";

/**
 * What a takeover consists of: the active service of a pair with many miners in its store is killed, the other one waits
 * for the lease, and then starts. The CPU time says what the start costs on a machine that does something else, too.
 * Arguments: kills, and miners.
 */
const kills = Number(process.argv[2] ?? 5);
const counts = process.argv[3] === undefined ? [10, 5_000, 50_000] : [Number(process.argv[3])];

const says = /is ready at http|this one waits to take its place/;

interface Member {
  readonly file: string;
  readonly url: string;
  service: Running;
}

const start = (file: string, cwd: string): Promise<Running> =>
  running(["serve", "--config", file], says, { cwd, program: main });

async function measureAll(server: Postgres, count: number): Promise<void> {
  const folder = mkdtempSync(join(tmpdir(), "rigbridge-takeover-"));
  const members: Member[] = [];
  try {
    await storeOfMany(folder, count);
    const database = await server.database();
    const url = server.url(database);
    const copied = await rigbridge(["store", "copy", "rigbridge.db", url], { cwd: folder });
    if (copied.code !== 0) throw new Error(copied.stderr);
    for (const name of ["one", "other"]) {
      const port = await freePort();
      const file = join(folder, `${name}.yaml`);
      writeFileSync(file, JSON.stringify({ http: { port }, store: { url, site: "barn" } }), { mode: 0o600 });
      members.push({ file, url: `http://127.0.0.1:${port}`, service: await start(file, folder) });
    }
    const looked = "select 1 from pg_stat_activity where application_name = 'rigbridge standby' and query = 'commit'";
    const hasRead = async () => (await server.run(`${looked} and state = 'idle'`)).length > 0;
    const epoch = async () => (await server.run("select epoch from rigbridge.lease", database))[0]?.epoch;
    for (let turn = 0; turn < kills; turn += 1) {
      const [active, other] = turn % 2 === 0 ? members : members.toReversed();
      if (active === undefined || other === undefined) throw new Error("there are two");
      await until(hasRead, "the waiting service to have the rigs in memory");
      await measure(count, active, other, epoch);
      await within(active.service.ended, "the killed service to end");
      active.service = await start(active.file, folder);
    }
  } finally {
    for (const { service } of members) service.signal("SIGKILL");
    for (const { service } of members) await service.ended;
    rmSync(folder, { recursive: true });
  }
}

async function measure(count: number, active: Member, other: Member, epoch: () => Promise<unknown>): Promise<void> {
  // What its start leaves to be done.
  await pause(5_000);
  const { pid } = other.service;
  const [memory, before] = [residentOf(pid), await epoch()];
  const { send, close } = sender(other.url);
  active.service.signal("SIGKILL");
  const killed = performance.now();
  await until(async () => (await epoch()) !== before, "the other one to have the lease");
  const [leased, cpu] = [performance.now(), cpuOf(pid)];
  const isActive = async () => (await send("GET", "/health/active", undefined, { timeoutMs: 5_000 }))?.status === 200;
  await until(isActive, "the other one to be active", { details: other.service.said });
  const ready = performance.now();
  say(
    `${count} miners: lease after ${seconds(leased - killed)} s, active ${seconds(ready - leased)} s later, with ` +
      `${seconds(cpuOf(pid) - cpu)} s of CPU; it took ${memory} MB before`,
  );
  close();
}

const seconds = (ms: number): string => (ms / 1000).toFixed(2);

/** ms of user and system time, of which Linux counts 100 ticks a second (proc(5)). */
function cpuOf(pid: number): number {
  const fields = readFileSync(`/proc/${pid}/stat`, "utf8").split(") ")[1]?.split(" ") ?? [];
  return 10 * (Number(fields[11]) + Number(fields[12]));
}

const residentOf = (pid: number): number =>
  Math.round((Number(/^VmRSS:\s+(\d+) kB$/m.exec(readFileSync(`/proc/${pid}/status`, "utf8"))?.[1]) * 1024) / 1e6);

if (process.platform === "linux" && hasPostgres("takeovers with many miners")) {
  const server = await startPostgres(["shared_buffers=128MB"]);
  try {
    for (const count of counts) await measureAll(server, count);
  } finally {
    await server.stop();
  }
}
