import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { openStore } from "../../../src/store/index.ts";
import { quantile } from "../../bench/statistics.ts";
import type { Attack } from "../attack.torture.ts";
import { type Verdict, wait } from "../measure.ts";
import { type Answer, type ServiceProcess, startProcess } from "../process.ts";

const keys = { service: "the-key-of-the-service", eve: "the-key-of-eve-12345678" };
const json = { "content-type": "application/json" };
/** By the order of the configuration: the first is the owner's, the second eve's. */
const [ours, hers] = [1_000_000_001, 1_000_000_002];
const now = Date.now();

/** What a user may ask for, however much there is of it, keeps nobody else waiting. */
export const attack: Attack = {
  name: "a user who takes all jobs and reads all there is",
  run: async (verdict) => {
    const folder = await mkdtemp(join(tmpdir(), "rigbridge-shares-"));
    const file = join(folder, "rigbridge.db");
    await fill(file);
    const service = await startProcess({
      config: {
        http: { key: keys.service },
        store: { url: file },
        poll: { interval: 3600 },
        groups: [{ name: "ours" }, { name: "hers" }],
        users: [{ name: "eve", key: keys.eve, privilege: "control", groups: ["hers"] }],
        miners: [
          { address: "127.103.64.1:9", group: "ours" },
          ...[2, 3, 4].map((last) => ({ address: `127.103.64.${last}:9`, group: "hers" })),
        ],
      },
    });
    try {
      await jobs(service, verdict);
      await commands(service, verdict);
      await histories(service, verdict);
    } finally {
      await service.close();
      await rm(folder, { recursive: true });
    }
  },
};

/** 500,000 commands of others, and 190,000 readings of eve's miner. */
async function fill(file: string): Promise<void> {
  const store = await openStore({ file, now: Date.now });
  for (let first = 0; first < 190_000; first += 10_000) {
    await store.samples.append(
      Array.from({ length: 10_000 }, (_, index) => ({
        minerId: hers,
        time: now - (190_000 - first - index) * 500,
        hashrate: 1e12 + index,
        power: 15,
        temperature: 60,
        energy: first + index,
      })),
    );
    while (await store.samples.pack(now));
  }
  await store.close();
  const raw = new DatabaseSync(file);
  raw.exec(`with recursive n(id) as (select 1 union all select id + 1 from n limit 500000)
    insert into command (id, time, updated, miner_id, miner_name, actor, action, parameters, state, message)
    select id, ${now} - 500000 + id, ${now}, ${ours}, 'rig', 'http', 'stop', '{}', 'done', 'taken' from n`);
  raw.close();
}

const asEve = (service: ServiceProcess, method: string, path: string, body?: object): Promise<Answer> =>
  service.ask(method, path, {
    headers: { ...json, "x-api-key": keys.eve },
    body: body === undefined ? undefined : JSON.stringify(body),
  });

async function jobs(service: ServiceProcess, verdict: Verdict): Promise<void> {
  const long = { action: "stop", all: true, parallel: 1, delay: 3_600 };
  const started: number[] = [];
  for (let turn = 0; turn < 25; turn += 1) started.push((await asEve(service, "POST", "/api/actions", long)).status);
  const body = JSON.stringify({ action: "stop", all: true });
  const owner = await service.ask("POST", "/api/actions", { headers: json, body });
  const list = await service.ask("GET", "/api/actions");
  const taken = started.filter((status) => status === 202).length;
  verdict.check(
    `of 25 jobs of a user ${taken} are taken; the owner's stop is answered ${owner.status}, the list of jobs ${list.status}`,
    taken <= 5 && owner.status === 202 && list.status === 200,
  );
}

/** s that the service has used so far. */
async function cpuOf(service: ServiceProcess): Promise<number> {
  const { text } = await service.ask("GET", "/metrics", { from: "127.103.64.9" });
  return Number(/^process_cpu_seconds_total (\S+)$/m.exec(text)?.[1]);
}

/** So many requests of eve at once, and what somebody else waits for meanwhile. */
async function beside(service: ServiceProcess, count: number, path: string) {
  const small = async (): Promise<number> => (await service.ask("GET", "/api/summary", { from: "127.103.64.9" })).ms;
  const before = await cpuOf(service);
  let left = count;
  const asked = Array.from({ length: count }, async () => {
    const answer = await asEve(service, "GET", path);
    left -= 1;
    return answer;
  });
  const waits: number[] = [];
  while (left > 0 || waits.length < 10) {
    waits.push(await small());
    await wait(2);
  }
  const answers = await Promise.all(asked);
  const cpu = (await cpuOf(service)) - before;
  const of = (status: number): Answer[] => answers.filter((answer) => answer.status === status);
  const refused = answers.filter(({ status }) => status !== 200).length;
  const bytes = Math.max(...answers.map(({ text }) => text.length));
  const first = of(200).reduce((least, { ms }) => Math.min(least, ms), Number.POSITIVE_INFINITY);
  return {
    most: Math.max(...waits),
    words:
      `${of(200).length} answered (the first after ${first.toFixed(0)} ms), ${refused} refused, ${bytes} bytes at most, ${cpu.toFixed(2)} s of CPU; ` +
      `others wait ${quantile(waits, 0.5).toFixed(1)} ms, at most ${Math.max(...waits).toFixed(0)} ms`,
  };
}

async function commands(service: ServiceProcess, verdict: Verdict): Promise<void> {
  for (const path of ["/api/commands", "/api/commands?since=1", "/api/commands?actor=nobody"]) {
    const { most, words } = await beside(service, 20, path);
    verdict.check(`20 times GET ${path} over 500,000 commands of others: ${words}`, most < 1_000);
  }
}

async function histories(service: ServiceProcess, verdict: Verdict): Promise<void> {
  for (const step of ["", "&step=20", "&step=0"]) {
    const path = `/api/miners/${hers}/history?from=${now - 95_000_000}&to=${now}${step}`;
    const { most, words } = await beside(service, 60, path);
    verdict.check(`60 histories of 190,000 readings at once (${step || "usual steps"}): ${words}`, most < 1_000);
  }
}
