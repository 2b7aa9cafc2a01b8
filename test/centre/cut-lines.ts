import { setTimeout as pause } from "node:timers/promises";
import { RigbridgeError } from "../../src/contract/problems.ts";
import { siteOf } from "../../src/contract/site-numbers.ts";
import type { RigSpec } from "../../src/simulator/index.ts";
import type { Bench } from "../service/bench.ts";
import { until } from "../until.ts";
import { owner, type RunningCentre, startCentre, startSite } from "./centre-bench.ts";
import { startConnectingSite, startLine, startOpenCentre } from "./connecting-bench.ts";

export interface CutLines {
  readonly commands: number;
  /** Commands that the caller was told are done, were not sent, or of which no answer came. */
  readonly done: number;
  readonly refused: number;
  readonly unclear: number;
  /** Cuts of a line. */
  readonly cuts: number;
  /** What must not be: a sentence each. */
  readonly wrong: readonly string[];
}

const rig: RigSpec = { kind: "axeos", warm: true, restartSeconds: 0 };

/** A centre over sites with these rigs, whose lines can be cut. */
type StartSites = (
  names: readonly string[],
  rigs: readonly RigSpec[],
) => Promise<
  Pick<RunningCentre, "centre" | "reaches"> & {
    readonly running: readonly {
      readonly name: string;
      readonly bench: Bench;
      cut(): void | Promise<void>;
      join(): void | Promise<void>;
    }[];
  }
>;

const startWithAddresses: StartSites = async (names, rigs) => {
  const running = await Promise.all(names.map((name) => startSite(name, { rigs })));
  return { running, ...(await startCentre(running)) };
};

/** The sites connect to the centre. */
export const startConnecting: StartSites = async (names, rigs) => {
  const centre = await startOpenCentre(names);
  const running = await Promise.all(
    names.map(async (name) => {
      const line = await startLine(centre.server.address.port);
      return { name, ...line, ...(await startConnectingSite(centre, name, { rigs, url: line.url })) };
    }),
  );
  return { running, ...centre };
};

/**
 * Sends commands through a centre to the rigs of several sites while the lines to all but the first are cut and joined again
 * and again, some of them for long. Each command has a sender of its own, so that the log of its site shows whether it came,
 * and how often; the rigs count what reached them.
 */
export async function commandsOverCutLines(
  sites: number,
  commands: number,
  cutMs: number,
  start: StartSites = startWithAddresses,
): Promise<CutLines> {
  const names = Array.from({ length: sites }, (_, index) => `Site ${index + 1}`);
  const { running, centre, reaches } = await start(names, Array(2).fill(rig));
  const rows = async () => (await centre.listMinerRows({ view: "list" }, owner)).miners;
  await until(async () => (await rows()).length === 2 * sites, "the rows of all sites");
  const rigs = (await rows()).map(({ id }) => id);
  const sending = new AbortController();
  let cuts = 0;
  const cutting = running.slice(1).map(async (site) => {
    while (!sending.signal.aborted) {
      await pause(Math.random() * cutMs);
      await site.cut();
      cuts += 1;
      // Every third cut is longer than a client tries.
      await pause(Math.random() * cutMs * (cuts % 3 === 0 ? 4 : 1));
      await site.join();
    }
  });
  const wrong: string[] = [];
  const told = new Map<string, "done" | "refused" | "unclear">();
  const send = async (index: number): Promise<void> => {
    const actor = `person-${index}`;
    const id = rigs[index % rigs.length] ?? 0;
    const input = { id, action: "locate", on: true } as const;
    try {
      const { state = "done" } = await centre.minerAction(input, { actor, idempotency: { key: `key-${index}` } });
      told.set(actor, state === "done" ? "done" : "unclear");
    } catch (error) {
      if (!(error instanceof RigbridgeError)) throw error;
      told.set(actor, error.code === "service.not-ready" ? "refused" : "unclear");
    }
  };
  const all = Array.from({ length: commands }, (_, index) => index);
  const lanes = Array.from({ length: 8 }, async (_, lane) => {
    for (const index of all.filter((each) => each % 8 === lane)) await send(index);
  });
  await Promise.all(lanes);
  sending.abort();
  await Promise.all(cutting);
  for (const { name } of running) await reaches(name, "connected");
  for (const { bench } of running) await bench.idle();

  for (const [at, { name, bench }] of running.entries()) {
    const { commandList } = await bench.service.listCommands({}, owner);
    const came = Map.groupBy(commandList, ({ actor }) => actor.split(" for ")[0] ?? "");
    const its = [...told].filter(([actor]) => siteOf(rigs[Number(actor.slice(7)) % rigs.length] ?? 0) === at + 1);
    for (const [actor, outcome] of its) {
      const states = (came.get(actor) ?? []).map(({ state }) => state);
      if (states.length > 1) wrong.push(`${actor}: ${name} was told ${states.length} times`);
      if (outcome === "done" && states.join() !== "done")
        wrong.push(`${actor}: done here, ${states.join() || "nothing"} at ${name}`);
      if (outcome === "refused" && states.length > 0) wrong.push(`${actor}: said not to be sent, and came to ${name}`);
    }
    const done = commandList.filter(({ state }) => state === "done").length;
    const reached = bench.farm.rigs.flatMap((_, index) => bench.rig(index).requests.writes).length;
    if (done !== reached) wrong.push(`${name}: ${done} commands are done, and its rigs got ${reached}`);
    const isAsked = async () =>
      !(await centre.listCommands({}, owner)).commandList.some(({ state }) => state === "unknown");
    await until(isAsked, `${name} to be asked for the commands whose answer was lost`);
    const all = (await centre.listCommands({}, owner)).commandList.filter(({ id }) => siteOf(id) === at + 1);
    const lost = all.filter(({ message }) => message === `Nothing was done: ${name} has no such command`);
    for (const { actor, state } of lost)
      if (state !== "failed" || came.has(actor)) wrong.push(`${actor}: not received, it is said, and is at ${name}`);
    const shown = all.filter((each) => !lost.includes(each));
    if (shown.length !== commandList.length)
      wrong.push(`${name}: ${shown.length} of ${commandList.length} commands are shown`);
  }
  const count = (outcome: string) => [...told.values()].filter((each) => each === outcome).length;
  return { commands, done: count("done"), refused: count("refused"), unclear: count("unclear"), cuts, wrong };
}
