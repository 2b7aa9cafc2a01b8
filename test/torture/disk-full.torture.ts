import { spawn, spawnSync } from "node:child_process";
import { closeSync, existsSync, mkdtempSync, openSync, rmSync, statSync, writeFileSync, writeSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { setTimeout as pause } from "node:timers/promises";
import { z } from "zod";
import { startFarm } from "../../src/simulator/index.ts";
import { rigbridge, running } from "../cli/command.ts";
import { until, within } from "../until.ts";
import { say } from "./say.ts";
import { type Answered, type Send, sender } from "./written.ts";

/** A small disk fills up under the service, stays full over a restart, and has space again. Needs root, for a tmpfs. */
const megabytes = 24;
const rigs = 40;
const ready = /is ready at (http:\/\/127\.0\.0\.1:\d+)/;
const main = join(import.meta.dirname, "..", "..", "src", "cli", "main.ts");

let broken = 0;
function check(what: string, holds: boolean, more = ""): void {
  say(`${holds ? "ok    " : "BROKEN"} ${what}${more === "" ? "" : `: ${more}`}`);
  if (!holds) broken += 1;
}

const disk = mkdtempSync(join(tmpdir(), "rigbridge-full-"));

async function fullDisk(): Promise<void> {
  const farm = await startFarm({
    rigs: Array.from({ length: rigs }, () => ({ kind: "cgminer", warm: true, restartSeconds: 0 })),
  });
  const miners = farm.rigs.map(({ address }) => ({ address, driver: "cgminer", interval: 1 }));
  const config = { http: { port: 0 }, store: { url: "rigbridge.db" }, miners };
  writeFileSync(join(disk, "rigbridge.yaml"), JSON.stringify(config));
  try {
    const left = await whileRunning();
    await atStart(left);
    await withItsLog();
  } finally {
    await farm.close();
  }
}

const start = () => running(["serve", "--config", "rigbridge.yaml"], ready, { cwd: disk });
const urlOf = (said: string): string => ready.exec(said)?.[1] ?? "";
const filler = join(disk, "filler");

/** Takes every byte there is, and says how many kB. */
function fill(): number {
  const file = openSync(filler, "a");
  try {
    for (const size of [1 << 20, 4096, 1]) {
      const bytes = Buffer.alloc(size, "x");
      for (;;) writeAll(file, bytes);
    }
  } catch {
    // Full.
  } finally {
    closeSync(file);
  }
  return Math.round(statSync(filler).size / 1024);
}

/** Throws when not even one byte can be written. */
function writeAll(file: number, bytes: Buffer): void {
  if (writeSync(file, bytes) === 0) throw new Error("full");
}

const Row = z.object({ id: z.number() });
const detailOf = (answer: Answered): string =>
  z.object({ detail: z.string() }).safeParse(answer?.body).data?.detail ?? "";
const addPool = (send: Send, name: string) =>
  send("POST", "/api/pools", { description: name, url: "stratum+tcp://pool.example:3333" });

/** Resolves with the number of writes that went well before one did not, and that one's answer. */
async function untilRefused(send: Send): Promise<{ writes: number; answer: Answered }> {
  for (let writes = 0; ; writes += 1) {
    const answer = await addPool(send, `while it fills ${writes}`);
    if (answer?.status !== 200) return { writes, answer };
    if (writes % 50 === 0) fill();
  }
}

interface Left {
  readonly pools: number;
  readonly command: number;
}

async function whileRunning(): Promise<Left> {
  const service = await start();
  const { send, close } = sender(urlOf(service.said()));
  const ids: number[] = [];
  for (let count = 0; count < 40; count += 1) {
    const { id } = Row.parse((await addPool(send, `pool ${count}`))?.body);
    ids.push(id);
  }
  const miner = Row.parse((await send("POST", "/api/miners", { address: "127.102.1.1:9", interval: 1 }))?.body);
  // History and energy are written every 5 s.
  await pause(6_000);

  say(`${fill()} kB of ${megabytes} MB filled`);
  const { writes, answer } = await untilRefused(send);
  check(
    "a write is refused with 507 and a sentence",
    answer?.status === 507,
    `after ${writes} more: ${detailOf(answer)}`,
  );
  await until(() => service.said().includes("history cannot be written"), "the log to say that history is dropped");
  await pause(12_000);
  const said = Array.from(service.said().matchAll(/(the farm's )?history cannot be written/g), ([line]) => line);
  check(
    "that history is dropped is said once of the rigs' and at most once of the farm's",
    said.includes("history cannot be written") && new Set(said).size === said.length,
    said.join("; "),
  );

  check("miners are read", (await send("GET", "/api/miners"))?.status === 200);
  const before = await readAt(send);
  await until(async () => (await readAt(send)) !== before, "the rigs to be read again");
  check("rigs are still read, and events told", true);
  const told = await send("POST", "/api/miners/1000000001?action=restart");
  const command = z.object({ commandId: z.number() }).safeParse(told?.body).data?.commandId ?? 0;
  check("rigs can be steered", told?.status === 200 && command > 0, `command ${command}`);

  const removed = await removeAll(send, ids);
  check("DELETE works", removed === ids.length, `${removed} of ${ids.length} pools`);
  check("a miner with its history can be removed", (await send("DELETE", `/api/miners/${miner.id}`))?.status === 200);
  check("notifications can be cleared", (await send("POST", "/api/notifications?action=clear_all"))?.status === 200);
  fill();
  const { answer: still } = await untilRefused(send);
  check("writes are refused while the disk is full", still?.status === 507);

  rmSync(filler);
  const freed = performance.now();
  await until(async () => (await addPool(send, "after"))?.status === 200, "a write to succeed again");
  check("writes work when there is space", true, `${Math.round(performance.now() - freed)} ms later`);
  await until(() => service.said().includes("history is written again"), "the log to say that history is written");
  check("so does history", true, `${Math.round(performance.now() - freed)} ms later`);
  check("the reserve is held again", existsSync(join(disk, "rigbridge.db.reserve")));
  const pools = await poolCount(send);
  close();
  service.signal("SIGKILL");
  await within(service.ended, "the killed service to end");
  return { pools, command };
}

async function atStart({ pools, command }: Left): Promise<void> {
  say(`${fill()} kB filled before the start`);
  const service = await start();
  const { send, close } = sender(urlOf(service.said()));
  check("it starts on a full disk with what it held in reserve, and reads", (await poolCount(send)) === pools);
  const commands = z.object({ commandList: z.array(Row) }).parse((await send("GET", "/api/commands"))?.body);
  check(
    "the command of the full disk was written when there was space",
    commands.commandList.some(({ id }) => id === command),
  );
  close();
  service.signal("SIGKILL");
  await within(service.ended, "the killed service to end");

  rmSync(join(disk, "rigbridge.db.reserve"), { force: true });
  for (const name of ["rigbridge.db-shm"]) rmSync(join(disk, name), { force: true });
  fill();
  const { code, stderr } = await rigbridge(["serve", "--config", "rigbridge.yaml"], { cwd: disk });
  check("without that it says so in a sentence", code === 1 && /the disk is full/.test(stderr), stderr.trim());

  rmSync(filler);
  const last = await start();
  const again = sender(urlOf(last.said()));
  check("with space it starts, with everything", (await poolCount(again.send)) === pools);
  again.close();
  last.signal("SIGTERM");
  check("and ends with 0", (await within(last.ended, "the service to end")).code === 0);
  const database = new DatabaseSync(join(disk, "rigbridge.db"));
  const sound = database.prepare("pragma integrity_check").get()?.integrity_check;
  database.close();
  check("the file is sound", sound === "ok", String(sound));
}

/** Its log goes to the disk that is full. */
async function withItsLog(): Promise<void> {
  const log = join(disk, "log");
  const out = openSync(log, "w");
  const child = spawn(process.execPath, ["--disable-warning=ExperimentalWarning", main, "serve"], {
    cwd: disk,
    env: { ...process.env, LOG_LEVEL: "trace" },
    stdio: ["ignore", out, "inherit"],
  });
  closeSync(out);
  const text = () => spawnSync("cat", [log]).stdout.toString();
  await until(() => ready.test(text()), "the service to be ready", { details: text });
  const { send, close } = sender(urlOf(text()));
  fill();
  for (let count = 0; count < 2_000; count += 1) await send("GET", "/api/summary");
  check(
    "a log on the full disk ends nothing",
    child.exitCode === null && (await send("GET", "/health"))?.status === 200,
  );
  close();
  const ended = new Promise((resolve) => child.once("close", resolve));
  child.kill("SIGTERM");
  const code = await Promise.race([ended, pause(7_000, "nothing in 7 s")]);
  check("it still ends when told to", code === 0, String(code));
  child.kill("SIGKILL");
}

async function removeAll(send: Send, ids: readonly number[]): Promise<number> {
  let removed = 0;
  for (const id of ids) if ((await send("DELETE", `/api/pools/${id}`))?.status === 200) removed += 1;
  return removed;
}

async function poolCount(send: Send): Promise<number> {
  const body = z.object({ list: z.array(Row) });
  return body.parse((await send("GET", "/api/pools"))?.body).list.length;
}

/** What moves with every read. */
const readAt = async (send: Send): Promise<string> =>
  JSON.stringify(z.object({ groupList: z.unknown() }).parse((await send("GET", "/api/miners"))?.body));

const mounted = spawnSync("mount", ["-t", "tmpfs", "-o", `size=${megabytes}m`, "tmpfs", disk]);
if (mounted.status === 0) {
  try {
    await fullDisk();
  } finally {
    spawnSync("umount", [disk]);
    rmSync(disk, { recursive: true });
  }
  if (broken > 0) process.exitCode = 1;
} else {
  rmSync(disk, { recursive: true });
  say(`left out: a tmpfs cannot be mounted here (${String(mounted.stderr).trim()}); it needs root`);
}
