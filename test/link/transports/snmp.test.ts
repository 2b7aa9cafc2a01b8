import { createSocket } from "node:dgram";
import { once } from "node:events";
import { afterEach, describe, expect, test } from "@jest/globals";
import { momentNow, SendDeadline, sendingBefore } from "../../../src/async/send-deadline.ts";
import { type SnmpLogin, type SnmpTransport, snmpTransport } from "../../../src/link/transports/snmp.ts";
import { startPdu, type VirtualPdu } from "../../../src/simulator/index.ts";
import { refusal } from "../../errors.ts";
import { freeUdpPort } from "../../free-port.ts";
import { ownHost } from "../../own-host.ts";
import { limits } from "../../until.ts";

const closing: (() => unknown)[] = [];
afterEach(async () => {
  for (const close of closing.splice(0).reverse()) await close();
});

const v3 = { authPassword: "authenticated", privPassword: "encrypted-too" };
const v2c = { read: "look", write: "switch" };
const common = { authProtocol: "sha", privProtocol: "aes" } as const;
const logins: Readonly<Record<"v3" | "v2c", SnmpLogin>> = {
  v3: { ...common, version: "3", username: "rigbridge", ...v3 },
  v2c: { ...common, version: "2c", community: v2c.read, writeCommunity: v2c.write },
};
const apc = "1.3.6.1.4.1.318.1.1.12";
const outlet = { state: `${apc}.3.5.1.1.4.1`, control: `${apc}.3.3.1.1.4.1`, on: 1, off: 2 };
const soon = (): AbortSignal => AbortSignal.timeout(limits.waitMs);

/** A PDU with one outlet. */
async function startedPdu(host = ownHost()): Promise<VirtualPdu & { readonly host: string; readonly port: number }> {
  const port = await freeUdpPort();
  const pdu = await startPdu({ rigs: [undefined], host, port, v3, v2c });
  closing.push(() => pdu.close());
  return Object.assign(pdu, { host, port });
}

function transportTo({ host, port }: { readonly host: string; readonly port: number }, login: SnmpLogin) {
  const transport = snmpTransport(host, port, login);
  closing.push(() => transport.close());
  return transport;
}

/** Passes requests on to a PDU and its answers back; a request for which `passes` returns false is lost. */
async function relayTo(pdu: { readonly host: string; readonly port: number }, passes: (request: number) => boolean) {
  const host = ownHost();
  const [front, back] = [createSocket("udp4"), createSocket("udp4")];
  let [requests, client] = [0, 0];
  front.on("message", (bytes, { port }) => {
    client = port;
    requests += 1;
    if (passes(requests)) back.send(bytes, pdu.port, pdu.host);
  });
  back.on("message", (bytes) => front.send(bytes, client, "127.0.0.1"));
  for (const socket of [front, back]) {
    socket.bind(0, host);
    await once(socket, "listening");
    closing.push(() => socket.close());
  }
  return { host, port: front.address().port };
}

/** Reads twice by a session of its own, so that a write that was sent before has arrived. */
async function afterOtherReads(pdu: { readonly host: string; readonly port: number }): Promise<void> {
  const other = transportTo(pdu, logins.v3);
  for (let read = 0; read < 2; read += 1) await other.get([outlet.state], soon());
}

describe.each(["v3", "v2c"] as const)("a write over SNMP %s", (version) => {
  test("is sent, and what it changed is read", async () => {
    const pdu = await startedPdu();
    const transport = transportTo(pdu, logins[version]);
    await transport.set(outlet.control, outlet.off, soon());
    expect(await transport.get([outlet.state, `${apc}.9.9`], soon())).toEqual([outlet.off, null]);
    expect(pdu.written).toEqual([1]);
  });

  test.each([
    ["before it is called", (_: SnmpTransport, signal: AbortController) => signal.abort(), 0],
    ["before its session is open", (_: SnmpTransport, signal: AbortController) => signal.abort(), 1],
    ["by closing before its session is open", (transport: SnmpTransport) => transport.close(), 1],
  ] as const)("is not sent if it is cancelled %s", async (_when, cancel, calls) => {
    const pdu = await startedPdu("127.0.0.1");
    const transport = transportTo({ host: "localhost", port: pdu.port }, logins[version]);
    const signal = new AbortController();
    if (calls === 0) cancel(transport, signal);
    const written = refusal(transport.set(outlet.control, outlet.off, signal.signal));
    if (calls === 1) cancel(transport, signal);
    expect(await written).toBe("rig.timeout");
    await afterOtherReads({ host: "localhost", port: pdu.port });
    expect([pdu.written, pdu.outlets]).toEqual([[], [true]]);
  });
});

test("a write over SNMP v3 is not sent if the deadline of the work passes during the discovery", async () => {
  const pdu = await startedPdu();
  const deadline = new SendDeadline();
  deadline.moveTo(momentNow(), 600_000);
  const relay = await relayTo(pdu, () => {
    deadline.end();
    return true;
  });
  const transport = transportTo(relay, logins.v3);
  const written = sendingBefore(deadline, () => transport.set(outlet.control, outlet.off, soon()));
  expect(await refusal(written)).toBe("service.no.active");
  await afterOtherReads(pdu);
  expect(pdu.written).toEqual([]);
});

test.each(["v3", "v2c"] as const)("a read over SNMP %s is repeated when a packet is lost", async (version) => {
  const pdu = await startedPdu();
  const relay = await relayTo(pdu, (request) => request !== 1);
  expect(await transportTo(relay, logins[version]).get([outlet.state], soon())).toEqual([outlet.on]);
});

test("a write over SNMP is not repeated when its packet is lost", async () => {
  const pdu = await startedPdu();
  let requests = 0;
  const relay = await relayTo(pdu, (request) => {
    requests = request;
    return request > 1;
  });
  const written = transportTo(relay, logins.v2c).set(outlet.control, outlet.off, AbortSignal.timeout(2_500));
  expect(await refusal(written)).toBe("rig.timeout");
  expect([requests, pdu.written]).toEqual([1, []]);
});
