import fc from "fast-check";
import type { z } from "zod";
import { type Operation, operationNames, operations } from "../../src/contract/operations.ts";
import { problems } from "../../src/contract/problems.ts";
import { startFarm } from "../../src/simulator/index.ts";
import { documented, type FuzzedRequest, fuzzedRequests } from "./fuzzed-requests.ts";
import { type Answer, type ServiceProcess, startProcess } from "./process.ts";

export interface FuzzReport {
  readonly requests: number;
  /** Answers by status. */
  readonly statuses: ReadonlyMap<number, number>;
  /** Operations that never answered with 2xx, so that little was tried of them. */
  readonly neverDone: readonly string[];
  /** What was not as promised, a line each. */
  readonly flaws: readonly string[];
  /** Bytes, of the service's process. */
  readonly memoryBefore: number;
  readonly memoryAfter: number;
  readonly seconds: number;
}

const key = "the-key-of-the-service";
/** At work at once. */
const lanes = 24;

/**
 * Throws requests of all kinds at a real service with virtual rigs, and looks at every answer. Goes on, to twice as many
 * at most, until no more than `unreached` operations were never done: in which order they arrive is chance.
 */
export async function fuzzService(count: number, seed: number, unreached = operationNames.length): Promise<FuzzReport> {
  const farm = await startFarm({
    rigs: [
      { kind: "cgminer", dialect: "bmminer", warm: true, host: "127.103.1.1" },
      { kind: "axeos", warm: true, host: "127.103.1.2" },
      { kind: "xmrig", warm: true, host: "127.103.1.3" },
    ],
  });
  const miners = farm.rigs.map(({ address }, index) => ({
    address,
    name: `rig ${index}`,
    location: { site: "alpha" },
  }));
  const service = await startProcess({
    config: {
      http: { key },
      miners,
      groups: [{ name: "alpha" }],
      pools: [{ name: "alpha", url: "stratum+tcp://alpha.example:1" }],
      users: [{ name: "anna", groups: ["alpha"] }],
      scan: { networks: ["127.103.9.0/30"] },
      electricity: { price: 0.2 },
      rules: [{ key: "anna", when: { all: [{ reading: "temperature", above: 200 }] }, do: [{ action: "stop" }] }],
      schedules: [{ key: "alpha", cron: "0 3 1 1 *", do: [{ action: "stop" }] }],
    },
  });
  const ground = {
    // The three rigs, and those that are added in between.
    ids: Array.from({ length: 9 }, (_, index) => 1_000_000_001 + index),
    addresses: ["127.103.2.1:1", "127.103.2.2:1", "http://127.103.2.3:1", ...farm.rigs.map(({ address }) => address)],
    networks: ["127.103.9.0/30", "127.103.9.0/31:8080"],
  };
  const flaws: string[] = [];
  const statuses = new Map<number, number>();
  const done = new Set<string>();
  await addGround(service);
  const memoryBefore = await service.memory();
  const start = performance.now();
  const one = async (fuzzed: FuzzedRequest, from: string): Promise<void> => {
    const { method, target, headers, body } = fuzzed;
    try {
      const answer = await service.ask(method, target, { headers, body, from });
      statuses.set(answer.status, (statuses.get(answer.status) ?? 0) + 1);
      if (answer.status < 300) done.add(fuzzed.operation);
      const flaw = flawOf(fuzzed, answer);
      if (flaw !== undefined) flaws.push(`${line(fuzzed)}: ${flaw}`);
    } catch (error) {
      flaws.push(`${line(fuzzed)}: no answer, ${String(error)}`);
    }
  };
  const isReached = () => operationNames.length - done.size <= unreached;
  const fuzzed = requestsFor(count, seed, ground, isReached);
  // Each lane comes from an address of its own, so that none is asked to wait.
  const lane = async (number: number): Promise<void> => {
    for (const each of fuzzed) await one(each, `127.103.4.${number + 1}`);
  };
  try {
    await Promise.all(Array.from({ length: lanes }, (_, number) => lane(number)));
    const seconds = (performance.now() - start) / 1000;
    const health = await service.ask("GET", "/api/summary");
    if (health.status !== 200) flaws.push(`afterwards GET /api/summary is answered with ${health.status}`);
    const memoryAfter = await service.memory();
    const neverDone = operationNames.filter((name) => !done.has(name));
    return { requests: count, statuses, neverDone, flaws, memoryBefore, memoryAfter, seconds };
  } finally {
    const code = await service.stop();
    const [stdout, stderr] = [service.stdout(), service.stderr()];
    await service.close();
    await farm.close();
    const said = stdout.split("\n").filter((said) => /"level":(50|60)/.test(said));
    if (code !== 0 || stderr !== "") flaws.push(`the process ended with ${code}, and said: ${stderr.slice(0, 500)}`);
    flaws.push(...said.map((each) => `the log says ${each.slice(0, 500)}`));
  }
}

/** What a file cannot declare: by its key or its first id chance finds it. */
async function addGround(service: ServiceProcess): Promise<void> {
  const headers = { "content-type": "application/json" };
  const add = async (target: string, fields: object): Promise<void> => {
    const { status, text } = await service.ask("POST", target, { headers, body: JSON.stringify(fields) });
    if (status >= 300) throw new Error(`POST ${target}: ${status} ${text}`);
  };
  // Several of each, since chance removes some before it has read them.
  for (let id = 1; id <= 5; id += 1) {
    await add("/api/hosts", { hostname: `host-${id}` });
    await add("/api/managedminers", { hostId: id });
  }
  for (let id = 1; id <= 5; id += 1) await add("/api/actions", { action: "restart", all: true, dryRun: true });
  const stop = { do: [{ action: "stop" }] };
  for (const key of ["new", "anna", "alpha"])
    await add("/api/channels", { key, type: "ntfy", topic: key, url: "http://127.103.5.1:9" });
  for (const key of ["new", "anna"]) await add("/api/schedules", { key, cron: "0 3 1 1 *", ...stop });
  for (const key of ["new", "alpha"])
    await add("/api/rules", { key, name: key, when: { all: [{ reading: "temperature", above: 200 }] }, ...stop });
}

/** Made a thousand at a time, so that 50,000 of them are no matter of memory; shared by all lanes. */
function* requestsFor(
  count: number,
  seed: number,
  ground: Parameters<typeof fuzzedRequests>[0],
  isReached: () => boolean,
) {
  const requests = fuzzedRequests(ground);
  for (let made = 0; made < count || (made < 2 * count && !isReached()); made += 1_000)
    yield* fc.sample(requests, { numRuns: 1_000, seed: seed + made });
}

/** What is wrong with an answer, undefined when nothing is. */
function flawOf({ operation, method, target }: FuzzedRequest, { status, headers, text }: Answer): string | undefined {
  const type = headers["content-type"] ?? "";
  if (headers["referrer-policy"] !== "no-referrer") return `${status} without Referrer-Policy`;
  if (status >= 500 && !documented(operation, status)) return `${status}: ${text.slice(0, 300)}`;
  if (status < 300) {
    if (!documented(operation, status)) return `${status} is not documented`;
    if (type.startsWith("text/event-stream")) return undefined;
    if (type.startsWith("text/csv"))
      return /^[\w ,]+\r\n/.test(text) ? undefined : `not a table: ${text.slice(0, 100)}`;
    const value = json(text);
    // It has only these fields, which other tests check.
    if (/[?&]fields=/.test(target)) return value === undefined ? `not JSON: ${text.slice(0, 100)}` : undefined;
    const { success, error } = replyOf(operation, type).safeParse(value);
    return success ? undefined : `the reply does not match its schema: ${error.message.slice(0, 300)}`;
  }
  if (status < 400) return `${status} to ${method}`;
  if (!type.startsWith("application/problem+json")) return `${status} as ${type}`;
  const problem = json(text);
  if (typeof problem !== "object" || problem === null) return `${status} without a problem document`;
  const { code, status: said } = { code: "", status: 0, ...problem };
  const known = Object.entries(problems).find(([each]) => each === code)?.[1];
  return known?.status === status && said === status ? undefined : `${status} with the problem ${code} of ${said}`;
}

/** Of the operations that share the path, the reply with this media type. */
function replyOf(name: FuzzedRequest["operation"], type: string): z.ZodType {
  const asked: Operation = operations[name];
  const sharing = operationNames
    .map((each): Operation => operations[each])
    .filter(({ method, path }) => method === asked.method && path === asked.path);
  const found = sharing.find(({ media = "application/json" }) => type.startsWith(`${media};`));
  return (found ?? asked).reply;
}

function json(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

const line = ({ method, target, body }: FuzzedRequest): string =>
  `${method} ${target.slice(0, 300)}${body === undefined ? "" : ` ${body.slice(0, 300)}`}`;
