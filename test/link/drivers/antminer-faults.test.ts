import { afterEach, describe, expect, test } from "@jest/globals";
import fc from "fast-check";
import { parseAddress } from "../../../src/link/address.ts";
import { connect } from "../../../src/link/connect.ts";
import type { Rig } from "../../../src/link/driver.ts";
import { antminer } from "../../../src/link/drivers/antminer/index.ts";
import { openLink } from "../../../src/link/link.ts";
import type { HttpCall, HttpReply, HttpTransport } from "../../../src/link/transports/http.ts";
import { jsonOf, refusal } from "../../../src/link/transports/http.ts";
import { rpcTransport } from "../../../src/link/transports/rpc.ts";
import { deadline, linkWith, poolAt } from "../rigs.ts";
import { closedPort, http, serve } from "../servers.ts";

let rig: Rig | undefined;
afterEach(async () => {
  rig?.close();
});

const pool = { url: "stratum+tcp://pool.example.com:3333", user: "a.1", pass: "x" };
const empty = { url: "", user: "", pass: "" };
const config = {
  pools: [pool, empty, empty],
  "bitmain-work-mode": "0",
  "bitmain-fan-ctrl": false,
  "bitmain-fan-pwm": "100",
};

/** Pages of newer firmware, by their name. */
const pages: Readonly<Record<string, unknown>> = {
  get_system_info: { minertype: "Antminer S21", macaddr: "02:00:00:00:00:09", hostname: "rig" },
  summary: {
    SUMMARY: [{ elapsed: 10, bestshare: 5, hw_all: 3, status: [{ type: "fans", status: "", code: 0, msg: "" }] }],
  },
  stats: {
    INFO: { type: "Antminer S21" },
    STATS: [
      {
        elapsed: 10,
        rate_5s: 200_000,
        rate_avg: 199_000,
        rate_ideal: 200_000,
        rate_unit: "GH/s",
        fan_num: 1,
        fan: [5000],
        chain: [
          {
            index: 0,
            freq_avg: 490,
            rate_real: 200_000,
            asic_num: 3,
            asic: " oxo",
            temp_pcb: [50, 0, 255],
            temp_chip: [60],
          },
        ],
      },
    ],
  },
  pools: {
    POOLS: [{ index: 0, url: pool.url, user: pool.user, status: "Alive", priority: 0, accepted: 7, rejected: 1 }],
  },
  get_miner_conf: config,
  get_blink_status: { blink: false },
};

const nameOf = (request: string): string => /\/cgi-bin\/(\w+)\.cgi/.exec(request)?.[1] ?? "";

type Answer = (name: string, request: string) => Buffer | null;

/** A web interface that asks for no login, and no RPC beside it. null leaves the request unanswered. */
async function start(answer: Answer): Promise<Rig> {
  const server = await serve((socket, request) => {
    const reply = answer(nameOf(request), request);
    if (reply !== null) socket.end(reply);
  });
  return webAt(server.port);
}

async function webAt(port: number, credentials = { username: "root", password: "hidden" }): Promise<Rig> {
  const link = openLink(parseAddress(`127.0.0.1:${port}`), credentials);
  rig = connect(antminer, linkWith(link, { rpc: rpcTransport("127.0.0.1", await closedPort()) }));
  return rig;
}

const usual: Answer = (name) =>
  Object.hasOwn(pages, name) ? http(200, JSON.stringify(pages[name])) : http(404, "<h1>404</h1>");

const except =
  (other: Readonly<Record<string, string | number | null>>): Answer =>
  (name, request) => {
    const body = other[name];
    if (body === undefined) return usual(name, request);
    return body === null ? null : typeof body === "number" ? http(body, "no") : http(200, body);
  };

describe("one broken page costs a note, not the read", () => {
  test.each(["get_system_info", "pools", "get_miner_conf", "get_blink_status"])("%s", async (name) => {
    for (const body of ["Socket connect failed: Connection refused\n", 500]) {
      const { readings } = await (await start(except({ [name]: body }))).read(deadline());
      expect(readings).toMatchObject({
        hashrate: 200e12,
        temperature: 50,
        boards: [{ slot: 1, chips: 2, chipsExpected: 3 }],
      });
      expect(readings.notes.length).toBeGreaterThan(1);
    }
  });

  test("and without statistics the configuration is still read", async () => {
    const { readings, pools, controls } = await (await start(except({ stats: "not yet" }))).read(deadline());
    expect(readings).toMatchObject({
      hashrate: null,
      mining: null,
      mode: "normal",
      errors: [{ code: "miner.silent" }],
    });
    expect(pools).toMatchObject([{ url: pool.url, worker: "a.1", active: true, accepted: null }]);
    expect(controls.map(({ key }) => key)).toContain("mining");
  });

  test("and without either there is nothing to read", async () => {
    const rig = await start(except({ stats: "not yet", get_miner_conf: 500 }));
    await expect(rig.read(deadline())).rejects.toMatchObject({ code: "rig.unreachable" });
  });
});

test("what shows neither the old nor the new pages is never written to", async () => {
  const written: string[] = [];
  const rig = await start((name, request) => {
    if (request.startsWith("POST")) written.push(name);
    return name === "summary" ? http(404, "") : usual(name, request);
  });
  const reading = await rig.read(deadline());
  expect(reading).toMatchObject({ controls: [], poolActions: [], readings: { mode: "normal" } });
  await expect(rig.pools.use?.({ url: pool.url, worker: "b", password: "" }, deadline())).rejects.toMatchObject({
    code: "control.absent",
  });
  expect(written).toEqual([]);
});

describe("a list of pools is not written where that would wipe a password", () => {
  test.each([
    ["left out", { url: pool.url, user: pool.user }],
    ["shown as stars", { ...pool, pass: "***" }],
  ])("that is %s", async (_, listed) => {
    let posts = 0;
    const rig = await start((name, request) => {
      if (request.startsWith("POST")) posts += 1;
      return except({ get_miner_conf: JSON.stringify({ ...config, pools: [listed] }) })(name, request);
    });
    const added = { url: "stratum+tcp://b.example.com:1", worker: "b", password: "p" };
    await expect(rig.pools.add?.(added, deadline())).rejects.toMatchObject({ code: "not.possible" });
    expect(posts).toBe(0);
    await expect(poolAt(rig, 0)).resolves.toMatchObject({ url: pool.url });
  });
});

test("an answer without the code for success is a refusal, with the rig's words and not with what was sent", async () => {
  const rig = await start(except({ set_miner_conf: '{"stats":"error","code":"M002","msg":"Bad pool"}' }));
  await rig.read(deadline());
  const added = { url: "stratum+tcp://b.example.com:1", worker: "b", password: "pool-secret" };
  const failure = await rig.pools.add?.(added, deadline()).catch((error: unknown) => error);
  expect(failure).toMatchObject({ code: "rig.refused", message: expect.stringContaining("M002 Bad pool") });
  expect(String(failure)).not.toMatch(/pool-secret|hidden/);
});

test.each([
  ["0", "0"],
  [0, 0],
])(
  "what a new firmware is written holds every place for a pool, and the mode under the name that it takes, in the form that it shows: %j",
  async (shown, written) => {
    let body: unknown;
    const rig = await start((name, request) => {
      if (name === "get_miner_conf") return http(200, JSON.stringify({ ...config, "bitmain-work-mode": shown }));
      if (request.startsWith("POST")) body = JSON.parse(request.slice(request.indexOf("\r\n\r\n") + 4));
      return name === "set_miner_conf"
        ? http(200, '{"stats":"success","code":"M000","msg":"OK!"}')
        : usual(name, request);
    });
    await rig.read(deadline());
    await rig.set("fan", 55, deadline());
    expect(body).toEqual({
      "bitmain-fan-ctrl": true,
      "bitmain-fan-pwm": "55",
      "freq-level": "100",
      "miner-mode": written,
      pools: [pool, empty, empty],
    });
  },
);

test("a mode that the rig takes only in the other form than it shows is written in that", async () => {
  const written: unknown[] = [];
  let mode = "0";
  const rig = await start((name, request) => {
    if (name === "get_miner_conf") return http(200, JSON.stringify({ ...config, "bitmain-work-mode": mode }));
    if (name !== "set_miner_conf") return usual(name, request);
    const wanted: unknown = JSON.parse(request.slice(request.indexOf("\r\n\r\n") + 4))["miner-mode"];
    written.push(wanted);
    if (typeof wanted === "number") mode = String(wanted);
    return http(200, '{"stats":"success","code":"M000","msg":"OK!"}');
  });
  await rig.read(deadline());
  await rig.set("mode", "low", deadline());
  expect(mode).toBe("3");
  await rig.set("mode", "normal", deadline());
  // From then on at once.
  expect(written).toEqual(["3", 3, 0]);
});

test("a rig that is cooled by water has no fans and none to set, though it lists four that stand still", async () => {
  const chain = { index: 0, asic_num: 3, rate_real: 200_000, temp_pic: [25, 25, 36, 36] };
  const stats = {
    INFO: { type: "Antminer S21 Hyd." },
    STATS: [{ rate_5s: 200_000, rate_unit: "GH/s", fan_num: 4, fan: [0, 0, 0, 0], chain: [chain] }],
  };
  const system = { minertype: "Antminer S21 Hyd.", macaddr: "02:00:00:00:00:09" };
  const wet = except({ stats: JSON.stringify(stats), get_system_info: JSON.stringify(system) });
  const { readings, controls } = await (await start(wet)).read(deadline());
  expect(readings).toMatchObject({ fans: [], errors: [], temperatureIn: 25, temperatureOut: 36 });
  expect(controls.map(({ key }) => key)).not.toContain("fan");
});

test("a state that is said to be running is no fault", async () => {
  const states = ["running", "Running", "s", ""].map((status) => ({ type: "rate", status, code: 0, msg: "" }));
  const failed = { type: "fans", status: "e", code: 1, msg: "fan lost" };
  const rig = await start(except({ summary: JSON.stringify({ SUMMARY: [{ status: [...states, failed] }] }) }));
  expect((await rig.read(deadline())).readings.errors).toEqual([{ code: "fans", text: "fan lost" }]);
});

test("what an old firmware is written keeps its order, for its script goes by that", async () => {
  let fields: string[] = [];
  const old = {
    get_miner_conf: { pools: [pool], "bitmain-freq": "550", "bitmain-voltage": "0706", "bitmain-nobeeper": true },
    get_system_info: { minertype: "Antminer S9" },
    miner_summary: { STATUS: [{ STATUS: "S" }], SUMMARY: [{ Elapsed: 1, "GHS 5s": "13000.1" }] },
    miner_stats: { STATUS: [{ STATUS: "S" }], STATS: [] },
    miner_pools: { STATUS: [{ STATUS: "S" }], POOLS: [] },
  };
  const rig = await start((name, request) => {
    if (name === "set_miner_conf") fields = request.slice(request.indexOf("\r\n\r\n") + 4).split("&");
    if (name === "set_miner_conf") return http(200, "ok\n");
    return Object.hasOwn(old, name) ? http(200, JSON.stringify(Reflect.get(old, name))) : http(404, "");
  });
  await expect(rig.read(deadline())).resolves.toMatchObject({ readings: { hashrate: 13_000.1e9 } });
  await expect(
    rig.pools.add?.({ url: "stratum+tcp://b.example.com:1", worker: "b", password: "p" }, deadline()),
  ).resolves.toBe("ok");
  expect(fields.map((field) => field.replace("stratum%2Btcp%3A%2F%2F", ""))).toEqual([
    "_ant_pool1url=pool.example.com%3A3333",
    "_ant_pool1user=a.1",
    "_ant_pool1pw=x",
    "_ant_pool2url=b.example.com%3A1",
    "_ant_pool2user=b",
    "_ant_pool2pw=p",
    "_ant_pool3url=",
    "_ant_pool3user=",
    "_ant_pool3pw=",
    "_ant_nobeeper=true",
    "_ant_notempoverctrl=false",
    "_ant_fan_customize_switch=false",
    "_ant_fan_customize_value=",
    "_ant_freq=550",
    "_ant_voltage=0706",
  ]);
});

test("an old light that answers only when it has done blinking is believed when it says that it blinks", async () => {
  let blinks = false;
  const rig = await start((name, request) => {
    if (name === "get_system_info") return http(200, '{"minertype":"Antminer S9"}');
    if (name === "get_miner_conf") return http(200, JSON.stringify(config));
    if (name === "miner_summary") return http(200, '{"STATUS":[{"STATUS":"S"}],"SUMMARY":[{"Elapsed":1}]}');
    if (name !== "blink") return http(404, "");
    if (!request.includes("action=startBlink")) return http(200, JSON.stringify({ isBlinking: blinks }));
    blinks = true;
    return null;
  });
  await expect(rig.read(deadline())).resolves.toMatchObject({ readings: { locate: false } });
  await expect(rig.set("locate", true, deadline(8_000))).resolves.toBe("blinking");
  await expect(rig.read(deadline())).resolves.toMatchObject({ readings: { locate: true } });
});

test("requests follow one another, and never overlap", async () => {
  let open = 0;
  let most = 0;
  const server = await serve((socket, request) => {
    open += 1;
    most = Math.max(most, open);
    socket.once("close", () => {
      open -= 1;
    });
    socket.end(usual(nameOf(request), request) ?? "");
  });
  const rig = await webAt(server.port);
  await rig.read(deadline());
  await rig.read(deadline());
  expect(server.connections()).toBeGreaterThan(8);
  expect(most).toBe(1);
});

/** Answers from a table, without sockets, for many replies in little time. */
function tableLink(answers: (name: string) => unknown): Rig {
  const at = "table:80";
  const call = async (what: HttpCall): Promise<HttpReply> => {
    const value = answers(nameOf(what.path));
    const body = JSON.stringify(value);
    return { status: body === undefined ? 404 : 200, headers: {}, body: body ?? "", notes: [] };
  };
  const send = async (what: HttpCall): Promise<HttpReply> => {
    const reply = await call(what);
    if (reply.status >= 300) throw refusal(at, what, reply);
    return reply;
  };
  const table: HttpTransport = {
    at,
    call,
    send,
    getJson: async (path) => jsonOf(at, { method: "GET", path }, await send({ method: "GET", path })),
    close: () => {},
  };
  const link = openLink({ host: "127.0.0.1", port: 9, tls: false }, { username: "root", password: "x" });
  const rpcAnswer = (name: string) => ({ value: answers(name), notes: [] });
  const rpc = { ...link.rpc, send: async (name: string) => rpcAnswer(name), close: () => {} };
  return antminer.connect(linkWith(link, { http: table, rpc }));
}

test("whatever its pages hold, a read ends with a reading or a documented error", async () => {
  const paths = Object.keys(pages).flatMap((name) => leaves(pages[name], [name]));
  const mutation = fc.record({ path: fc.constantFrom(...paths), value: fc.jsonValue({ maxDepth: 2 }) });
  await fc.assert(
    fc.asyncProperty(fc.array(mutation, { minLength: 1, maxLength: 4 }), async (mutations) => {
      const changed: unknown = JSON.parse(JSON.stringify(pages));
      for (const { path, value } of mutations) assign(changed, path, value);
      const rig = tableLink((name) => (isObject(changed) && Object.hasOwn(changed, name) ? changed[name] : undefined));
      try {
        const { readings } = await rig.read(deadline());
        for (const note of readings.notes) expect(typeof note).toBe("string");
      } catch (error) {
        expect(error).toMatchObject({ name: "RigbridgeError", code: expect.stringMatching(/^rig\./) });
      }
    }),
    { numRuns: 300 },
  );
});

const isObject = (value: unknown): value is Record<string, unknown> => typeof value === "object" && value !== null;

/** Every place of a value, by its path. */
const leaves = (value: unknown, path: readonly string[]): (readonly string[])[] =>
  isObject(value) ? [path, ...Object.entries(value).flatMap(([key, inner]) => leaves(inner, [...path, key]))] : [path];

function assign(target: unknown, path: readonly string[], value: unknown): void {
  const [key, ...rest] = path;
  if (key === undefined || !isObject(target)) return;
  if (rest.length === 0) target[key] = value;
  else assign(target[key], rest, value);
}
