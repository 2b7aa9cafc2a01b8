import { pino } from "pino";
import { Config } from "../../src/config/index.ts";
import { minersIn } from "../../src/contract/miners-in.ts";
import { startHttpServer } from "../../src/http/index.ts";
import { startService } from "../../src/service/index.ts";
import {
  type Farm,
  type RigModel,
  startFarm,
  startPlug,
  startTwin,
  type VirtualPlug,
} from "../../src/simulator/index.ts";
import { openStore } from "../../src/store/index.ts";
import { ownHost } from "../own-host.ts";
import { testKey } from "./service-kinds.ts";

/** Miners for the example flows, behind a service of one kind. */
export interface Site {
  readonly name: "a service inside Node-RED" | "a Rigbridge elsewhere" | "the reference product";
  /** Changes to the examples' `rigbridge-service`. */
  readonly service: Readonly<Record<string, unknown>>;
  readonly secrets: Readonly<Record<string, string>>;
  /** The rigs themselves; the first has the id 1000000001. */
  readonly rigs: readonly SiteRig[];
  /** Lets time pass for the miners. */
  pass(seconds: number): void;
  /** Reads of the notifications at a server without events; infinity for others. */
  polls(): number;
  close(): Promise<void>;
}

export interface SiteRig {
  readonly name: string;
  readonly model: RigModel;
  /** Not by the flow. */
  stop(): void;
  switchOff(): void;
}

const log = pino({ level: "silent" });
const names = ["Rig A", "Rig B"];

/**
 * LuxOS with several power levels, and a small rig. They answer throughout a restart: flows whose ten minutes are a second
 * here would else give the next command to a rig that is still away, which it refuses.
 */
function startRigs(clock: () => number): Promise<Farm> {
  return startFarm({
    rigs: [
      { kind: "luxos", warm: true, host: ownHost(), restartSeconds: 0 },
      { kind: "axeos", warm: true, host: ownHost(), restartSeconds: 0 },
    ],
    clock,
  });
}

const placed = (farm: Farm, group = "Hall") =>
  farm.rigs.map(({ address }, index) => ({ address, name: names[index] ?? "", group }));

const rigsOf = (farm: Farm): SiteRig[] =>
  farm.rigs.map((rig, index) => ({
    name: names[index] ?? "",
    model: rig.model,
    stop: () =>
      rig.model.change((model) => {
        model.mining = false;
      }),
    switchOff: () => rig.powerOff(),
  }));

/** A clock that a test can advance. */
function handClock() {
  let passed = 0;
  return {
    now: () => Date.now() + passed,
    pass: (seconds: number) => {
      passed += seconds * 1000;
    },
  };
}

export async function insideSite(): Promise<Site> {
  const clock = handClock();
  const farm = await startRigs(clock.now);
  return {
    name: "a service inside Node-RED",
    service: { mode: "inside", rigs: placed(farm), interval: 1 },
    secrets: {},
    rigs: rigsOf(farm),
    pass: clock.pass,
    polls: () => Number.POSITIVE_INFINITY,
    close: () => farm.close(),
  };
}

/** Without the protection times for rigs, so that a test need not wait. */
export const elsewhereSite = (): Promise<Site> => elsewhere([], async () => undefined);

/** With a plug at the second rig, and the rule that the example of two cures runs. */
export const curesSite = (): Promise<Site> =>
  elsewhere(
    [
      {
        key: "power-cycle",
        name: "Power-cycle",
        manual: true,
        limit: { perDay: 3 },
        do: [{ plug: "cycle", wait: "1s" }],
      },
    ],
    async ({ rigs: [, rig] }) => (rig === undefined ? undefined : startPlug({ kind: "shelly2", rig })),
  );

async function elsewhere(
  rules: readonly object[],
  plugOf: (farm: Farm) => Promise<VirtualPlug | undefined>,
): Promise<Site> {
  const clock = handClock();
  const farm = await startRigs(clock.now);
  const plug = await plugOf(farm);
  const supply = plug && { type: "shelly", address: plug.address };
  const settings = Config.parse({
    http: { host: "127.0.0.1", port: 0, key: testKey },
    poll: { interval: 1 },
    power: { minOn: 0, minOff: 0, changesPerHour: 3600 },
    groups: [{ name: "Sun" }],
    follow: { name: "Roof", group: "Sun", surplus: { api: true }, dwell: 0, minOn: 0, minOff: 0 },
    miners: placed(farm, "Sun").map((miner, index) =>
      index === 1 && supply !== undefined ? { ...miner, supply } : miner,
    ),
    rules,
  });
  const store = await openStore({ file: ":memory:", now: Date.now });
  const service = await startService({ config: settings, store, log });
  const { groupList } = await service.listMiners({}, { actor: "test" });
  for (const { id } of minersIn(groupList)) await service.pollMiner({ id }, { actor: "test" });
  const server = await startHttpServer({ service, settings: settings.http, log, version: "test" });
  return {
    name: "a Rigbridge elsewhere",
    service: { url: server.url },
    secrets: { key: testKey },
    rigs: rigsOf(farm),
    pass: clock.pass,
    polls: () => Number.POSITIVE_INFINITY,
    close: async () => {
      await server.close();
      await service.close();
      await store.close();
      await plug?.close();
      await farm.close();
    },
  };
}

export async function referenceSite(): Promise<Site> {
  const clock = handClock();
  const twin = await startTwin({ locale: "sv-SE", currency: "SEK", miners: 12, key: testKey, clock: clock.now });
  const [first] = twin.miners.filter(({ id }) => id === 1_000_000_001);
  const others = twin.miners.filter((miner) => miner !== first);
  const rigs = [...(first === undefined ? [] : [first]), ...others].map((miner) => ({
    name: miner.name,
    get model() {
      return miner.model;
    },
    stop: () => miner.stop(),
    switchOff: () => miner.switchOff(),
  }));
  return {
    name: "the reference product",
    service: { url: twin.url, locale: "sv-SE", poll: 1 },
    secrets: { key: testKey },
    rigs,
    pass: clock.pass,
    polls: () => twin.requests.paths.filter((path) => path.startsWith("GET /api/notifications")).length,
    close: () => twin.close(),
  };
}
