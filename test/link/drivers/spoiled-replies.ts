import { expect } from "@jest/globals";
import fc from "fast-check";
import { RigbridgeError } from "../../../src/contract/problems.ts";
import { Control, Identity, RigReadings } from "../../../src/contract/readings.ts";
import { isRecord } from "../../../src/contract/record.ts";
import type { Driver, Reading } from "../../../src/link/driver.ts";
import { type Credentials, type Link, openLink } from "../../../src/link/link.ts";
import type { HttpReply } from "../../../src/link/transports/http.ts";
import type { DeviceReply } from "../../../src/link/transports/rpc.ts";
import { type RigSpec, startFarm } from "../../../src/simulator/index.ts";
import { deadline, linkWith } from "../rigs.ts";

const odd = fc.constantFrom<unknown>(
  ...[null, true, "", "nan", "1e999", "m-m", "-1", "\u202e\u0000x", "DevFee", "x".repeat(3_000), "a,b"],
  ...[0, -1, 255, 1.5, 1e308, 2 ** 63],
  ...[[], {}, [null], [[]], [{}], { __proto__: null }, Array(300).fill({})],
);

/** Of every so many fields one is replaced; which and by what `values` say, in turn. */
function spoiled(value: unknown, next: () => unknown): unknown {
  const other = next();
  if (other !== keep) return other;
  if (Array.isArray(value)) return value.slice(0, 8).map((each) => spoiled(each, next));
  if (!isRecord(value)) return value;
  return Object.fromEntries(Object.entries(value).map(([key, each]) => [key, spoiled(each, next)]));
}

const keep = Symbol("keep");

interface Spoiling {
  readonly every: number;
  readonly from: number;
  readonly values: readonly unknown[];
}

const spoiling: fc.Arbitrary<Spoiling> = fc.record({
  every: fc.integer({ min: 2, max: 60 }),
  from: fc.nat(60),
  values: fc.array(odd, { minLength: 1, maxLength: 6 }),
});

/** By request. Headers have the session of a login, so they stay as they are. */
interface Known {
  readonly values: Map<string, unknown>;
  readonly headers: Map<string, HttpReply["headers"]>;
}

/** All that a healthy rig answers, asked of it once, with the fields spoiled that were read. */
function spoiledLink(healthy: Link, { values, headers }: Known, how: Spoiling): Link {
  let field = how.from;
  let used = 0;
  const next = (): unknown => {
    field += 1;
    if (field % how.every !== 0) return keep;
    used += 1;
    return how.values[used % how.values.length];
  };
  const answer = async (key: string, ask: () => Promise<unknown>): Promise<unknown> => {
    if (!values.has(key)) values.set(key, await ask());
    return spoiled(values.get(key), next);
  };
  const send = async (command: string, parameter: string | undefined, signal: AbortSignal): Promise<DeviceReply> => {
    const sent = async () => (await healthy.rpc.send(command, parameter, signal)).value;
    return { value: await answer(`${command}|${parameter}`, sent), notes: [] };
  };
  const ask: Link["rpc"]["ask"] = async (request, signal, framing) => {
    const sent = async () => (await healthy.rpc.ask(request, signal, framing)).value;
    return { value: await answer(JSON.stringify(request), sent), notes: [] };
  };
  const call: Link["http"]["call"] = async (what, signal): Promise<HttpReply> => {
    const key = `${what.method} ${what.path} ${JSON.stringify(what.body)}`;
    const sent = async () => {
      const reply = await healthy.http.call(what, signal);
      headers.set(key, reply.headers);
      return JSON.parse(reply.body || "{}");
    };
    const body = JSON.stringify(await answer(key, sent)) ?? "";
    return { status: 200, headers: headers.get(key) ?? {}, body, notes: [] };
  };
  const getJson: Link["http"]["getJson"] = async (path, signal) => {
    const sent = async () => (await healthy.http.getJson(path, signal)).value;
    return { value: await answer(`GET ${path}`, sent), notes: [] };
  };
  const http = { ...healthy.http, call, getJson };
  return linkWith(healthy, { rpc: { ...healthy.rpc, send, ask }, http, httpOn: () => http });
}

function fits({ readings, controls, identity, pools }: Reading): void {
  expect(RigReadings.safeParse(readings).error).toBeUndefined();
  expect(Control.array().safeParse(controls).error).toBeUndefined();
  expect(Identity.safeParse(identity).error).toBeUndefined();
  expect(pools.filter(({ active }) => active).length).toBeLessThanOrEqual(1);
  expect(new Set(controls.map(({ key }) => key)).size).toBe(controls.length);
  for (const { min, max } of controls) expect((min ?? 0) <= (max ?? Number.MAX_VALUE)).toBe(true);
}

/** Whatever such a rig answers, the driver reads it within the contract or fails as documented. */
export async function expectSpoiledReads(driver: Driver, spec: RigSpec, credentials: Credentials = {}): Promise<void> {
  const farm = await startFarm({ rigs: [{ ...spec, warm: true }], clock: () => 1.8e12 });
  const known: Known = { values: new Map(), headers: new Map() };
  let read = 0;
  try {
    const port = farm.rigs[0]?.port ?? 0;
    const healthy = openLink({ host: "127.0.0.1", port, tls: false }, credentials);
    // Unspoiled first, so that a login gets a valid token and every page is known.
    await driver
      .connect(spoiledLink(healthy, known, { every: Number.POSITIVE_INFINITY, from: 0, values: [] }))
      .read(deadline());
    await fc.assert(
      fc.asyncProperty(spoiling, async (how) => {
        const rig = driver.connect(spoiledLink(healthy, known, how));
        const reading = await rig.read(deadline()).catch((error: unknown) => {
          expect(error).toBeInstanceOf(RigbridgeError);
          return null;
        });
        if (reading === null) return;
        fits(reading);
        read += 1;
      }),
      { numRuns: 600 },
    );
  } finally {
    await farm.close();
  }
  expect(read).toBeGreaterThan(100);
  expect(Object.keys(Object.prototype)).toEqual([]);
}
