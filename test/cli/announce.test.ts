import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect } from "@jest/globals";
import type { ResponsePacket } from "multicast-dns";
import { findServices } from "../../src/discovery/index.ts";
import { rigbridgeType } from "../../src/discovery/records.ts";
import { version } from "../../src/version.ts";
import { listener, listensMs, onLoopback, testWithMulticast, udpPort } from "../discovery/multicast.ts";
import { type Running, running } from "./command.ts";

const program = new URL("announced-service.ts", import.meta.url).pathname;

let folder = "";
const services: Running[] = [];
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), "rigbridge-announce-"));
});
afterEach(async () => {
  for (const service of services.splice(0)) {
    service.signal("SIGKILL");
    await service.ended;
  }
  await rm(folder, { recursive: true });
});

async function serve(host: string): Promise<{ service: Running; url: string }> {
  const service = await running([`${udpPort}`, folder, host], /Nothing more is started/, { program, cwd: folder });
  services.push(service);
  return { service, url: /is ready at (http:\/\/[\d.]+:\d+)/.exec(service.said())?.[1] ?? "" };
}

const find = () =>
  findServices({ signal: new AbortController().signal, ports: [], timeoutMs: listensMs, ...onLoopback });

describe("rigbridge serve", () => {
  testWithMulticast("on all addresses, with a key, is found until it stops", async () => {
    const { heard, hears } = await listener();
    const { service, url } = await serve("0.0.0.0");
    expect(await find()).toEqual([{ url, name: expect.any(String), kind: "rigbridge", version }]);
    const key = /^\s*(\S{20,})$/m.exec(service.said())?.[1] ?? "";
    expect(key).not.toBe("");
    expect(textsIn(heard)).toContain(`version=${version}`);
    expect(textsIn(heard).join()).not.toContain(key);
    service.signal("SIGTERM");
    expect(await service.ended).toMatchObject({ code: 0 });
    await hears(
      ({ answers }) => (answers ?? []).some((each) => each.name === rigbridgeType && "ttl" in each && each.ttl === 0),
      "the service to say goodbye",
    );
    expect(await find()).toEqual([]);
  });

  testWithMulticast("on loopback is not announced", async () => {
    const { heard } = await listener();
    await serve("127.0.0.1");
    expect(await find()).toEqual([]);
    expect(heard).toEqual([]);
  });

  testWithMulticast("is not announced where http.announce is false", async () => {
    const { heard } = await listener();
    await writeFile(join(folder, "rigbridge.yaml"), "http:\n  announce: false\n");
    await serve("0.0.0.0");
    expect(await find()).toEqual([]);
    expect(heard).toEqual([]);
  });
});

/** All packets as text. */
const textsIn = (packets: readonly ResponsePacket[]): string[] =>
  packets.flatMap(({ answers, additionals }) =>
    [...(answers ?? []), ...(additionals ?? [])].flatMap((each) =>
      "data" in each
        ? [
            each.name,
            ...[each.data].flat().map((data) => (Buffer.isBuffer(data) ? data.toString() : JSON.stringify(data))),
          ]
        : [],
    ),
  );
