import fc from "fast-check";
import { RigbridgeError } from "../../src/contract/problems.ts";
import { Control, Identity, RigReadings } from "../../src/contract/readings.ts";
import type { Driver } from "../../src/link/driver.ts";
import { drivers } from "../../src/link/drivers/index.ts";
import type { Link } from "../../src/link/link.ts";
import { type HttpCall, type HttpReply, jsonOf, refusal } from "../../src/link/transports/http.ts";
import { decode, parseStrict } from "../../src/link/transports/json.ts";
import { type DeviceReply, replyOf } from "../../src/link/transports/rpc.ts";
import { type RigSpec, type SimulatedRig, startFarm } from "../../src/simulator/index.ts";
import { ask, askUntil } from "../simulator/ask.ts";
import { linkOf } from "./link-double.ts";

/** What a rig in good health answers to each question, byte for byte; over HTTP the body alone. */
export interface Base {
  readonly name: string;
  readonly driver: Driver;
  readonly replies: ReadonlyMap<string, { readonly status: number; readonly body: Buffer }>;
}

const token = "geheim";
const rigs: readonly RigSpec[] = [
  { kind: "cgminer", name: "cgminer", warm: true },
  { kind: "cgminer", name: "bfgminer", dialect: "bfgminer", warm: true },
  { kind: "cgminer", name: "bmminer", dialect: "bmminer", warm: true },
  { kind: "axeos", name: "axeos", warm: true },
  { kind: "axeos", name: "older axeos", pausable: false, warm: true },
  { kind: "xmrig", name: "xmrig", warm: true, token, restricted: false },
  { kind: "xmrig", name: "restricted xmrig", warm: true },
  { kind: "trex", name: "trex", warm: true, password: token, dualAlgorithm: "kawpow" },
  { kind: "zenemy", name: "zenemy", warm: true },
  { kind: "gminer", name: "gminer", warm: true, dualAlgorithm: "kHeavyHash" },
  { kind: "nbminer", name: "nbminer", warm: true, algorithm: "tensority", dualAlgorithm: "ethash" },
  { kind: "rigel", name: "rigel", warm: true, dualAlgorithm: "sha512256d" },
  { kind: "bzminer", name: "bzminer", warm: true, dualAlgorithm: "kaspa" },
  { kind: "srbminer", name: "srbminer", warm: true, password: token, dualAlgorithm: "blake3_decred" },
  { kind: "lolminer", name: "lolminer", warm: true, dualAlgorithm: "KASPA" },
  { kind: "lolminer", name: "older lolminer", warm: true, older: true },
  { kind: "onezerominer", name: "onezerominer", warm: true, dualAlgorithm: "qhash" },
  { kind: "wildrig", name: "wildrig", warm: true },
  { kind: "nanominer", name: "nanominer", warm: true, dualAlgorithm: "HeavyHash" },
  { kind: "teamblack", name: "teamblack", warm: true, dualAlgorithm: "kawpow" },
  { kind: "teamblack", name: "older teamblack", warm: true, older: true },
  // Without the head over HTTP, which the transport takes off.
  { kind: "miniz", name: "miniz", warm: true, older: true },
  { kind: "xmrig-proxy", name: "xmrig-proxy", warm: true, password: token },
  { kind: "cgminer", name: "sgminer", dialect: "sgminer", warm: true },
  { kind: "cgminer", name: "teamredminer", dialect: "teamredminer", dualAlgorithm: "kaspa", warm: true },
  { kind: "claymore", name: "claymore", dualAlgorithm: "blake256r14", warm: true },
  { kind: "ethminer", name: "ethminer", warm: true },
  { kind: "ccminer", name: "ccminer", warm: true },
  { kind: "ccminer", name: "cpuminer", hardware: "processor", warm: true },
];

/** The replies of every dialect that the simulator has. */
export async function bases(): Promise<Base[]> {
  const farm = await startFarm({ rigs, clock: () => 1.8e12 });
  try {
    return await Promise.all(farm.rigs.map(baseOf));
  } finally {
    await farm.close();
  }
}

const reports = ["summary+pools+devs+stats", "summary", "pools", "devs", "stats", "version", "coin"];
const commands = [...reports, "devdetails", "summary2+pools2"];
/** What the drivers of mining programs send, in lines of JSON and in plain text. */
const methods: Readonly<Record<string, readonly string[]>> = {
  claymore: ["miner_getstat1", "miner_getstat2"],
  ethminer: ["miner_getstatdetail", "miner_getconnections", "miner_pausegpu"],
};
const texts = ["summary", "threads", "help", "pool", "pool|0", "pool|1"];
const paths = [
  ...["/api/system/info", "/api/system/asic", "/2/summary", "/2/backends", "/2/config"],
  ...["/", "/summary", `/login?password=${token}`, "/stat", "/api/v1/status", "/status"],
  ...["/stats", "/miner", "/threads", "/pool", "/1/summary", "/1/config"],
];

async function baseOf(rig: SimulatedRig): Promise<Base> {
  const replies = new Map<string, { status: number; body: Buffer }>();
  if (rig.kind === "cgminer") {
    for (const command of commands) {
      const reply = await ask(rig, JSON.stringify({ command }));
      replies.set(command, { status: 200, body: Buffer.from(reply, "latin1") });
    }
    const check = await ask(rig, JSON.stringify({ command: "check", parameter: "switchpool" }));
    replies.set("check", { status: 200, body: Buffer.from(check, "latin1") });
  } else if (rig.kind === "miniz") {
    const reply = await ask(rig, '{"method":"getstat"}');
    replies.set("getstat", { status: 200, body: Buffer.from(reply, "latin1") });
  } else if (rig.kind === "ccminer") {
    for (const text of texts) replies.set(text, { status: 200, body: Buffer.from(await ask(rig, text), "latin1") });
  } else if (methods[rig.kind] !== undefined) {
    for (const method of methods[rig.kind] ?? []) {
      const request = `${JSON.stringify({ id: 1, jsonrpc: "2.0", method })}\n`;
      replies.set(method, { status: 200, body: Buffer.from(await askUntil(rig, request, "\n"), "latin1") });
    }
  } else {
    for (const path of paths) {
      const headers = { authorization: `Bearer ${token}` };
      const reply = await fetch(`http://${rig.address}${path}`, { headers });
      replies.set(withoutQuery(path), { status: reply.status, body: Buffer.from(await reply.arrayBuffer()) });
    }
  }
  const driver = drivers.find(({ id }) => id === rig.kind);
  if (driver === undefined) throw new Error(`no driver for ${rig.kind}`);
  return { name: rig.name, driver, replies };
}

const withoutQuery = (path: string): string => path.split("?", 1)[0] ?? "";

/** One thing that is done to the bytes of a reply, or to its JSON. `at` and `to` are places in it, from 0 to 1. */
interface Change {
  readonly how: (typeof hows)[number];
  readonly at: number;
  readonly to: number;
  readonly token: string;
  readonly value: unknown;
}

/** What is done to the replies of one read: to all of them, or to one in three. */
export interface Mutation {
  readonly base: number;
  readonly where: number;
  readonly changes: readonly Change[];
}

const hows = ["flip", "cut", "drop", "double", "insert", "swap", "replace", "remove", "repeat", "exchange"] as const;

const tokens = [
  ...['"', "\\", "{", "}", "[", "]", ",", ":", "\0", "\n", "\ufeff", "\u202e", "\x1b[31m", "\x7f", "\u0085", "\u2028"],
  ...["nan", "-inf", "1e999", "-1e308", "0x10", "1".repeat(400), "9223372036854775808", "1,2,3", "00", "--", ".5"],
  ...['"__proto__":{"polluted":1},', '"constructor":1,', "\\u0000", "\\ud800", "\\u202e", "}{", "],[", "//", "<b>"],
  ...["HTTP/1.1 200 OK\r\n\r\n", "STATUS=S,When=1|", " ".repeat(3_000), "[".repeat(200), "{}".repeat(300)],
].flatMap((token) => (token.length === 1 ? [token] : [token, `"${token}"`]));

const values: readonly unknown[] = [
  ...[null, true, false, 0, -1, 1.5, 255, 1e308, -1e308, 2 ** 63, 2 ** 53, 5e-324, "", "nan", "m-m", "0-255", "Y"],
  ...["7.64G", "1e999", `1${" ".repeat(3_000)}x`, "\u202eab\u0000", "\ud800", "x".repeat(3_000), "\u009b31m", "a\tb"],
  ...[[], {}, [null], [[]], [{}], [{ STATUS: "S" }], Array(300).fill({}), { __proto__: null }],
];

const change: fc.Arbitrary<Change> = fc.record({
  how: fc.constantFrom(...hows),
  at: fc.double({ min: 0, max: 1, noNaN: true }),
  to: fc.double({ min: 0, max: 1, noNaN: true }),
  token: fc.constantFrom(...tokens),
  value: fc.constantFrom(...values),
});

export const mutation = (count: number): fc.Arbitrary<Mutation> =>
  fc.record({
    base: fc.nat(count - 1),
    where: fc.nat(3),
    changes: fc.array(change, { minLength: 1, maxLength: 5 }),
  });

function mutated(body: Buffer, changes: readonly Change[]): Buffer {
  return changes.reduce<Buffer>((bytes, each) => (bytes.length > 200_000 ? bytes : changed(bytes, each)), body);
}

function changed(bytes: Buffer, { how, at, to, token, value }: Change): Buffer {
  const [from, until] = [Math.floor(at * bytes.length), Math.floor(to * bytes.length)].sort((a, b) => a - b);
  if (from === undefined || until === undefined) return bytes;
  const near = Math.min(until, from + 60);
  switch (how) {
    case "flip":
      return Buffer.concat([
        bytes.subarray(0, from),
        Buffer.from([Math.floor(to * 256) & 255]),
        bytes.subarray(from + 1),
      ]);
    case "cut":
      return bytes.subarray(0, from);
    case "drop":
      return Buffer.concat([bytes.subarray(0, from), bytes.subarray(near)]);
    case "double":
      return Buffer.concat([bytes.subarray(0, until), bytes.subarray(from)]);
    case "insert":
      return Buffer.concat([bytes.subarray(0, from), Buffer.from(token), bytes.subarray(from)]);
    case "swap":
      return Buffer.concat([bytes.subarray(0, from), bytes.subarray(until), bytes.subarray(from, until)]);
    default:
      return withJson(bytes, how, { at, to, value });
  }
}

/** Where a value stands: in which object or list, under which key. */
interface Place {
  readonly holder: Record<string, unknown>;
  readonly key: string;
}

type JsonChange = "replace" | "remove" | "repeat" | "exchange";

/** A change of the JSON; bytes that are no JSON any more are left alone. */
function withJson(bytes: Buffer, how: JsonChange, { at, to, value }: Pick<Change, "at" | "to" | "value">): Buffer {
  const parsed = parseStrict(bytes.toString().replace(/\0$/, ""));
  if ("problem" in parsed) return bytes;
  const places = placesOf(parsed.value);
  const place = places[Math.min(places.length - 1, Math.floor(at * places.length))];
  const other = places[Math.min(places.length - 1, Math.floor(to * places.length))];
  if (place === undefined || other === undefined) return bytes;
  const { holder, key } = place;
  if (how === "replace") set(holder, key, value);
  else if (how === "remove") delete holder[key];
  else if (how === "repeat") set(holder, Array.isArray(holder) ? key : `${key} `, structuredClone(holder[key]));
  else set(holder, key, structuredClone(other.holder[other.key]));
  return Buffer.from(JSON.stringify(parsed.value));
}

const set = (holder: Record<string, unknown>, key: string, value: unknown): void => {
  if (key !== "__proto__") holder[key] = value;
};

function placesOf(value: unknown): Place[] {
  if (typeof value !== "object" || value === null) return [];
  const holder: Record<string, unknown> = Object.assign(value);
  return Object.keys(holder).flatMap((key) => [{ holder, key }, ...placesOf(holder[key])]);
}

/** Mutated replies by question, so that who measures a second read does not measure their making. */
export type Made = Map<string, Buffer>;

/** A link to a rig that answers as the base does, in memory, parsed as the transports parse. */
export function linkTo({ replies }: Base, { where, changes }: Mutation, made: Made = new Map()): Link {
  let asked = 0;
  const replyTo = (question: string): { status: number; body: Buffer } => {
    asked += 1;
    const reply = replies.get(withoutQuery(question)) ?? { status: 404, body: Buffer.from("not found") };
    if (where !== 3 && asked % 3 !== where) return reply;
    const body = made.get(question) ?? mutated(reply.body, changes);
    made.set(question, body);
    return { ...reply, body };
  };
  const call = async (what: HttpCall): Promise<HttpReply> => {
    const { status, body } = replyTo(what.path);
    const { text, notes } = decode(body);
    return { status, headers: {}, body: text, notes };
  };
  const send = async (what: HttpCall): Promise<HttpReply> => {
    const reply = await call(what);
    if (reply.status >= 300) throw refusal("rig:80", what, reply);
    return reply;
  };
  return linkOf({
    credentials: { token, password: token },
    now: () => 1.8e12,
    rpc: {
      send: async (command) => rpcReply(replyTo(command).body),
      ask: async ({ command, method }) => rpcReply(replyTo(String(command ?? method)).body),
    },
    lines: {
      ask: async (requests) =>
        requests.map((request) => replyOf("rig:3333", replyTo(String(Reflect.get(request, "method"))).body)),
      text: async (command) => decode(replyTo(command).body).text.replace(/\0$/, ""),
    },
    frames: { ask: async ({ cmd }) => replyOf("rig:4433", replyTo(String(cmd)).body) },
    http: {
      call,
      send,
      getJson: async (path) => jsonOf("rig:80", { method: "GET", path }, await send({ method: "GET", path })),
    },
  });
}

/** What stands before the first NUL where that is JSON, else all of it. */
function rpcReply(bytes: Buffer): DeviceReply {
  const end = bytes.indexOf(0);
  if (end !== -1) {
    const { text, notes } = decode(bytes.subarray(0, end));
    const parsed = parseStrict(text);
    if ("value" in parsed) return { value: parsed.value, notes };
  }
  return replyOf("rig:4028", bytes);
}

const never = new AbortController().signal;

/** Reads a mutated rig twice and says what is wrong with what came of it; null when all is as promised. */
export async function faultOfReading(base: Base, how: Mutation): Promise<string | null> {
  const rig = base.driver.connect(linkTo(base, how));
  for (let reads = 0; reads < 2; reads += 1) {
    try {
      const reading = await rig.read(never);
      const schema =
        RigReadings.safeParse(reading.readings).error ??
        Control.array().safeParse(reading.controls).error ??
        Identity.safeParse(reading.identity).error;
      if (schema !== undefined) return schema.message;
      const text = unprintableIn(reading);
      if (text !== null) return `not printable: ${JSON.stringify(text)}`;
      if (reading.pools.filter(({ active }) => active).length > 1) return "two active pools";
    } catch (error) {
      if (!(error instanceof RigbridgeError))
        return `not ours: ${error instanceof Error ? error.stack : String(error)}`;
      if (unprintableIn(error.message) !== null) return `not printable: ${JSON.stringify(error.message)}`;
    }
  }
  return Object.keys(Object.prototype).length > 0 ? "Object.prototype has a new key" : null;
}

const unprintable = /[\p{Cc}\p{Bidi_Control}\p{Cs}\u2028\u2029\ufeff]/u;

function unprintableIn(value: unknown): string | null {
  if (typeof value === "string") return unprintable.test(value) ? value : null;
  if (typeof value !== "object" || value === null) return null;
  for (const each of Object.values(value)) {
    const found = unprintableIn(each);
    if (found !== null) return found;
  }
  return null;
}
