import { mkdtemp, readdir, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { pino } from "pino";
import { Config } from "../../src/config/index.ts";
import { RemoteWriter, type RemoteWriterOptions } from "../../src/remote-write/remote-writer.ts";
import { startService } from "../../src/service/index.ts";
import { startFarm } from "../../src/simulator/index.ts";
import { openStore } from "../../src/store/index.ts";
import { ownHost } from "../own-host.ts";

export const caller = { actor: "test" };

/** A service with three virtual rigs, and writers of its samples. Writers make rounds only when told. */
export async function openWriterBench() {
  const names = ["attic", "garage", "den"];
  const host = ownHost();
  const farm = await startFarm({ rigs: names.map((name) => ({ kind: "axeos", name, warm: true, host })) });
  const store = await openStore({ file: ":memory:", now: Date.now });
  const config = Config.parse({
    http: { port: 0 },
    poll: { interval: 3600, timeout: 30 },
    groups: [{ name: "House" }],
  });
  const lines: string[] = [];
  const log = pino({ level: "debug" }, { write: (line: string) => void lines.push(line) });
  const service = await startService({ config, store, log });
  const ids = new Map<string, number>();
  for (const [index, { address }] of farm.rigs.entries()) {
    const name = names[index] ?? "";
    ids.set(name, (await service.addMiner({ address, name, group: "House" }, caller)).id);
  }
  const poll = async (): Promise<void> => {
    for (const id of ids.values()) await service.pollMiner({ id }, caller).catch(() => undefined);
  };
  await poll();
  const folder = await mkdtemp(join(tmpdir(), "rigbridge-remote-write-"));
  const writers: RemoteWriter[] = [];
  return {
    farm,
    service,
    settings: config.http,
    log,
    lines,
    poll,
    folder,
    waiting: async () => (await readdir(join(folder, "queue"))).sort(),
    idOf: (name: string): number => ids.get(name) ?? 0,
    /** Opened, without rounds of its own. */
    writer: async (url: string, options: Partial<RemoteWriterOptions> & { headers?: Record<string, string> } = {}) => {
      const { headers = {}, ...others } = options;
      const writer = new RemoteWriter({
        service,
        settings: { url, headers, labels: { site: "cabin" }, interval: 30 },
        folder: join(folder, "queue"),
        log,
        retry: { firstMs: 1, longestMs: 20 },
        ...others,
      });
      await writer.open();
      writers.push(writer);
      return writer;
    },
    warnings: async () =>
      (await service.listNotifications({}, caller)).notificationList
        .filter(({ title }) => title === "Remote write")
        .map(({ message, closedUtc }) => ({ message, isOpen: closedUtc === null })),
    close: async () => {
      for (const writer of writers) await writer.close();
      await service.close();
      await store.close();
      await farm.close();
      await rm(folder, { recursive: true });
    },
  };
}
