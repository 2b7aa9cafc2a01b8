import { createSocket } from "node:dgram";
import { once } from "node:events";
import { expect, test } from "@jest/globals";
import { listenForReports } from "../../src/discovery/rig-reports.ts";
import { onTestFinished } from "../finished.ts";
import { freeUdpPort } from "../free-port.ts";
import { until } from "../until.ts";
import { antminerReport, mac, sendReport } from "./reporting.ts";

async function listening(): Promise<{ ports: readonly number[]; heard: string[]; stop: () => void }> {
  const stopping = new AbortController();
  onTestFinished(() => stopping.abort());
  const ports = [await freeUdpPort(), await freeUdpPort()];
  const heard: string[] = [];
  const reported = (host: string): void => void heard.push(host);
  expect(await listenForReports({ signal: stopping.signal, ports, reported })).toEqual(new Map());
  return { ports, heard, stop: () => stopping.abort() };
}

test("reports of both makers are received at both ports, and only those of their senders", async () => {
  const { ports, heard } = await listening();
  for (const port of ports) {
    await sendReport(antminerReport("127.75.9.1"), "127.75.9.1", port);
    await sendReport(`IP:127.75.9.2MAC:${mac}\u0001`, "127.75.9.2", port);
    await sendReport("OK\0\0\0\0\0\0\0\0", "127.75.9.3", port);
    await sendReport("", "127.75.9.3", port);
    await sendReport(Buffer.alloc(60_000, antminerReport("127.75.9.4")), "127.75.9.4", port);
    await sendReport(antminerReport("127.75.9.1"), "127.75.9.5", port);
    await sendReport(antminerReport("192.168.1.5"), "127.75.9.6", port);
    // One socket receives in order.
    await sendReport(antminerReport("127.75.9.7"), "127.75.9.7", port);
    await until(() => heard.at(-1) === "127.75.9.7", "the last report to arrive");
    expect(heard.splice(0)).toEqual(["127.75.9.1", "127.75.9.2", "127.75.9.7"]);
  }
});

test("a port that another program has for itself is named, and the others are listened at", async () => {
  const taken = createSocket("udp4").bind(await freeUdpPort(), "0.0.0.0");
  await once(taken, "listening");
  onTestFinished(() => void taken.close());
  const stopping = new AbortController();
  onTestFinished(() => stopping.abort());
  const free = await freeUdpPort();
  const heard: string[] = [];
  const reported = (host: string): void => void heard.push(host);
  const notes = await listenForReports({ signal: stopping.signal, ports: [taken.address().port, free], reported });
  expect([...notes]).toEqual([
    [taken.address().port, expect.stringMatching(/^Reports of rigs are not received on UDP port \d+: .*EADDRINUSE/)],
  ]);
  await sendReport(antminerReport("127.75.9.8"), "127.75.9.8", free);
  await until(() => heard.length === 1, "the report at the other port");
});

test("at the end the ports are free", async () => {
  const { ports, stop } = await listening();
  stop();
  for (const port of ports) {
    const own = createSocket("udp4").bind(port, "0.0.0.0");
    await once(own, "listening");
    own.close();
  }
});
