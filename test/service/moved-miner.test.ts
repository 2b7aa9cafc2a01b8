import { createServer, type Server } from "node:net";
import { afterEach, beforeEach, describe, expect, test } from "@jest/globals";
import type { Input } from "../../src/contract/service.ts";
import type { RigSpec } from "../../src/simulator/index.ts";
import { ownHost } from "../own-host.ts";
import { until } from "../until.ts";
import { type Bench, caller, closeBenches, openBench } from "./bench.ts";

const secret = "a-secret-of-the-rig";

/** Where somebody would like to have the rig's login: it takes whatever it is sent, and answers like a web server. */
let thief: { readonly address: string; heard(): string };
let server: Server;
beforeEach(async () => {
  const chunks: Buffer[] = [];
  server = createServer((socket) => {
    socket.on("error", () => socket.destroy());
    socket.on("data", (chunk) => {
      chunks.push(chunk);
      socket.end("HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: 2\r\n\r\n{}");
    });
  });
  const host = ownHost();
  await new Promise<void>((resolve) => server.listen(0, host, resolve));
  const bound = server.address();
  thief = {
    address: `${host}:${typeof bound === "object" ? bound?.port : 0}`,
    heard: () => Buffer.concat(chunks).toString("latin1"),
  };
});
afterEach(async () => {
  await closeBenches();
  server.close();
});

/** Rigs that are sent their login in a way that whoever hears it can use it. */
const rigs: readonly (readonly [string, RigSpec, Partial<Input<"addMiner">>])[] = [
  ["XMRig", { kind: "xmrig", token: secret }, { token: secret }],
  ["VNish", { kind: "vnish", password: secret }, { password: secret }],
  ["Braiins OS", { kind: "braiins", password: secret }, { username: "root", password: secret }],
];

const isRead = (bench: Bench, id: number): Promise<void> =>
  until(async () => (await bench.poll(id)).hasValidStatus, "the rig to be read");

const storedIn = ({ store }: Bench, id: number) => {
  const { username, password, token } = store.miners.get(id) ?? {};
  return [username, password, token];
};

describe.each(rigs)("a %s that is given another address", (_name, spec, login) => {
  test("takes neither its login nor its driver there", async () => {
    const bench = await openBench({ rigs: [{ ...spec, warm: true }] });
    const id = await bench.add(bench.rig(0).address, login);
    await isRead(bench, id);
    expect(bench.store.memory.get(id)?.driver).toBe(spec.kind);
    await bench.service.changeMiner({ id, address: thief.address }, caller);
    for (let reads = 0; reads < 3; reads += 1) await bench.poll(id);
    expect(thief.heard()).not.toBe("");
    expect(thief.heard()).not.toContain(secret);
    expect(storedIn(bench, id)).toEqual([null, null, null]);
    expect(bench.store.memory.get(id)?.driver).not.toBe(spec.kind);
    await bench.restart();
    await bench.poll(id);
    expect(thief.heard()).not.toContain(secret);
  });

  test("has the login that the same request gives", async () => {
    const bench = await openBench({ rigs: [{ ...spec, warm: true }] });
    const id = await bench.add(thief.address, { token: "old", password: "old" });
    await bench.service.changeMiner({ id, address: bench.rig(0).address, ...login }, caller);
    await isRead(bench, id);
  });
});

describe("a changed address", () => {
  test.each([
    ["another port", "127.0.0.1:2"],
    ["the usual port", "127.0.0.1"],
    ["https", "https://127.0.0.1:1"],
    ["another host", "127.0.0.2:1"],
  ])("that is %s drops the login", async (_what, address) => {
    const bench = await openBench();
    const { id } = await bench.service.addMiner({ address: "127.0.0.1:1", ...all }, caller);
    await bench.service.changeMiner({ id, address }, caller);
    expect(storedIn(bench, id)).toEqual([null, null, null]);
  });

  test.each([
    ["the same", "127.0.0.1:1"],
    ["the same in other words", "http://[::ffff:127.0.0.1]:1/"],
    ["not given", undefined],
  ])("that is %s keeps it", async (_what, address) => {
    const bench = await openBench();
    const { id } = await bench.service.addMiner({ address: "127.0.0.1:1", ...all }, caller);
    await bench.service.changeMiner({ id, name: "new", ...(address === undefined ? {} : { address }) }, caller);
    expect(storedIn(bench, id)).toEqual(["root", secret, secret]);
  });

  test("in the configuration file is recognised before anything is sent to it", async () => {
    const [, spec, login] = rigs[1] ?? [];
    if (spec === undefined) throw new Error("there is no rig");
    const bench = await openBench({ rigs: [{ ...spec, warm: true }] });
    const declared = (address: string) => ({ miners: [{ name: "rig", address, ...login }] });
    await bench.restart(declared(bench.rig(0).address));
    const id = bench.store.miners.all()[0]?.id ?? 0;
    await isRead(bench, id);
    await bench.restart(declared(thief.address));
    await bench.poll(id);
    expect(thief.heard()).not.toBe("");
    expect(thief.heard()).not.toContain(secret);
  });
});

const all = { username: "root", password: secret, token: secret };

test("a plug that is given another address does not take its login there", async () => {
  const bench = await openBench({ rigs: [{ kind: "cgminer", hardware: "sticks", warm: true }] });
  const supply = { type: "tasmota", channel: 0, cutPower: true, delay: 0 } as const;
  const id = await bench.add(bench.rig(0).address, { supply: { ...supply, address: "127.0.0.1:1", password: secret } });
  await bench.service.changeMiner({ id, supply: { ...supply, address: thief.address } }, caller);
  await bench.poll(id);
  expect(thief.heard()).toContain("GET /cm");
  expect(thief.heard()).not.toContain("authorization");
  expect(JSON.stringify(bench.store.miners.get(id))).not.toContain(secret);
});

test("an address that an earlier version let in and this one does not is never called, and can be changed", async () => {
  const bench = await openBench({
    rigs: [
      { kind: "axeos", warm: true },
      { kind: "axeos", warm: true },
    ],
  });
  const [id, other] = [await bench.add(bench.rig(0).address), await bench.add(bench.rig(1).address)];
  await bench.store.miners.change(id, {
    address: "192.0.0.192",
    supply: { type: "shelly", address: "169.254.1.1", channel: 0, cutPower: true, delay: 0 },
  });
  await bench.restart();
  await bench.poll(other);
  expect((await bench.get(other)).statusInfo.statusDisplay).toBe("Mining");
  const { statusInfo, controls } = await bench.get(id);
  expect([statusInfo.statusDisplay, controls.filter(({ value }) => value !== null)]).toEqual(["Disabled", []]);
  expect((await bench.service.changeMiner({ id, name: "kept" }, caller)).name).toBe("kept");
  await bench.service.changeMiner({ id, address: bench.rig(0).address, supply: null }, caller);
  await bench.poll(id);
  expect((await bench.get(id)).statusInfo.statusDisplay).toBe("Mining");
});
