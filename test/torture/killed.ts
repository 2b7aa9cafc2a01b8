import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { setTimeout as pause } from "node:timers/promises";
import { type Farm, startFarm } from "../../src/simulator/index.ts";
import { openStore } from "../../src/store/index.ts";
import { type Running, running } from "../cli/command.ts";
import { newNotification } from "../notification-rows.ts";
import { within } from "../until.ts";
import { Ledger } from "./ledger.ts";
import { sender } from "./written.ts";

const writers = 8;
const rigs = 4;
const notifications = 3_000;
const ready = /is ready at (http:\/\/127\.0\.0\.1:\d+)/;

export interface Killed {
  readonly acknowledged: number;
  readonly refused: number;
  /** Each as a sentence. */
  readonly wrong: readonly string[];
}

/** `rigbridge serve` over a store in this folder; resolves when it is ready. */
export async function serve(folder: string): Promise<{ service: Running; url: string }> {
  const service = await running(["serve", "--config", "rigbridge.yaml"], ready, { cwd: folder });
  return { service, url: ready.exec(service.said())?.[1] ?? "" };
}

/**
 * The real program, ended with a signal at a random moment while writers are at it over HTTP, and started again, so
 * many times. `most`: answers, at most, between a start and the signal.
 */
export async function endedWhileWriting(
  folder: string,
  { rounds, most, signal }: { readonly rounds: number; readonly most: number; readonly signal: NodeJS.Signals },
  told: (round: number, ledger: Ledger, code: number | null, ms: number) => void = () => undefined,
): Promise<Killed> {
  const farm = await startFarm({
    rigs: Array.from({ length: rigs }, () => ({ kind: "cgminer", warm: true, restartSeconds: 0 })),
  });
  try {
    const ledger = await prepared(folder, farm);
    for (let round = 1; round <= rounds; round += 1) {
      const { code, ms } = await oneRound(folder, ledger, 1 + Math.floor(Math.random() * most), signal);
      told(round, ledger, code, ms);
    }
    const { service, url } = await serve(folder);
    await checked(folder, url, ledger);
    service.signal("SIGKILL");
    await within(service.ended, "the killed service to end");
    return ledger;
  } finally {
    await farm.close();
  }
}

async function prepared(folder: string, farm: Farm): Promise<Ledger> {
  const miners = farm.rigs.map(({ address }) => ({ address, driver: "cgminer", interval: 3600 }));
  writeFileSync(
    join(folder, "rigbridge.yaml"),
    JSON.stringify({ http: { port: 0 }, store: { url: "rigbridge.db" }, miners }),
  );
  const store = await openStore({ file: join(folder, "rigbridge.db"), now: Date.now });
  for (let count = 0; count < notifications; count += 1) store.notifications.raise(newNotification());
  const ids = store.notifications.list().map(({ id }) => id);
  await store.close();
  // The first miners of a new store.
  return new Ledger(
    farm.rigs.map((_, index) => 1_000_000_001 + index),
    ids,
  );
}

async function oneRound(
  folder: string,
  ledger: Ledger,
  enough: number,
  signal: NodeJS.Signals,
): Promise<{ code: number | null; ms: number }> {
  const { service, url } = await serve(folder);
  await checked(folder, url, ledger);
  const { send, close } = sender(url);
  let answers = 0;
  let sentAt = 0;
  const answered = async (): Promise<void> => {
    answers += 1;
    if (answers !== enough) return;
    await pause(Math.random() * 3);
    sentAt = performance.now();
    service.signal(signal);
  };
  await Promise.all(Array.from({ length: writers }, () => ledger.write(send, () => void answered())));
  close();
  const { code } = await within(service.ended, `the service to end by ${signal}`);
  return { code, ms: performance.now() - sentAt };
}

/** What is there now, and that the file is sound. */
async function checked(folder: string, url: string, ledger: Ledger): Promise<void> {
  const { send, close } = sender(url);
  const database = new DatabaseSync(join(folder, "rigbridge.db"), { readOnly: true });
  try {
    const sound = database.prepare("pragma integrity_check").get()?.integrity_check;
    if (sound !== "ok") ledger.wrong.push(`integrity_check says ${sound}`);
    const coins = database.prepare(
      "select value ->> 'shortName' as coin, value ->> 'profit' as profit from resource where collection = 'coin'",
    );
    const profits = coins.all().map(({ coin, profit }) => [String(coin), Number(profit)] as const);
    await ledger.check(send, new Map(profits));
  } finally {
    database.close();
    close();
  }
}
