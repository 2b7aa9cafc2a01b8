import { pino } from "pino";
import { Config } from "../../src/config/index.ts";
import { startHttpServer } from "../../src/http/index.ts";
import { startService } from "../../src/service/index.ts";
import { type Farm, startFarm, startTwin } from "../../src/simulator/index.ts";
import { openStore } from "../../src/store/index.ts";
import { ownHost } from "../own-host.ts";

/** A farm behind one kind of service, with a rig that mines and can be stopped. */
export interface OpenedFarm {
  /** The platform's block of config.json. */
  readonly platform: object;
  /** The name of the controlled rig's accessory. */
  readonly name: string;
  /** A manual rule of the service, and whether this kind of service runs rules; null = it has none. */
  readonly rule: { readonly name: string; readonly runs: boolean } | null;
  /** Whether the rig itself mines. */
  mines(): boolean;
  /** When the rig started mining, epoch ms. */
  startedAt(): number;
  /** Makes the rig refuse every change, if its kind `refuses`. */
  refuse(): void;
  /** Takes the rig off the network until `on`. */
  off(): void;
  on(): Promise<void>;
  close(): Promise<void>;
}

export interface FarmKind {
  readonly name: string;
  /** Its rigs can be made to refuse. */
  readonly refuses: boolean;
  open(): Promise<OpenedFarm>;
}

const log = pino({ level: "silent" });
const key = "invented-key-of-the-homebridge-tests";

/** The service inside the plugin, another Rigbridge, and Awesome Miner. */
export const farmKinds: readonly FarmKind[] = [
  { name: "rigs by address", refuses: true, open: openRigs },
  { name: "another Rigbridge", refuses: true, open: openRigbridge },
  { name: "Awesome Miner", refuses: false, open: openTwin },
];

async function openSimulator(): Promise<{ farm: Farm; common: Omit<OpenedFarm, "platform" | "close"> }> {
  const farm = await startFarm({ rigs: [{ kind: "axeos", warm: true, host: ownHost() }] });
  const [rig] = farm.rigs;
  if (rig === undefined) throw new Error("the farm has no rig");
  const common = {
    name: "Garage",
    rule: null,
    mines: () => rig.model.mining,
    startedAt: () => rig.model.startedAt,
    refuse: () => {
      rig.fault = "denied";
    },
    off: () => rig.powerOff(),
    on: () => rig.powerOn(),
  };
  return { farm, common };
}

async function openRigs(): Promise<OpenedFarm> {
  const { farm, common } = await openSimulator();
  const rigs = farm.rigs.map(({ address }) => ({ address, name: common.name, interval: 1 }));
  return { ...common, platform: { name: "Rigbridge", rigs }, close: () => farm.close() };
}

async function openRigbridge(): Promise<OpenedFarm> {
  const { farm, common } = await openSimulator();
  const store = await openStore({ file: ":memory:", now: Date.now });
  const config = Config.parse({
    http: { port: 0, key },
    poll: { interval: 1 },
    miners: farm.rigs.map(({ address }) => ({ address, name: common.name })),
    rules: [{ name: "Restart all" }],
  });
  const service = await startService({ config, store, log });
  const server = await startHttpServer({ service, settings: config.http, log, version: "test" });
  return {
    ...common,
    platform: { name: "Rigbridge", service: { url: server.url, key } },
    rule: { name: "Restart all", runs: false },
    close: async () => {
      await server.close();
      await service.close();
      await store.close();
      await farm.close();
    },
  };
}

async function openTwin(): Promise<OpenedFarm> {
  const opened = Date.now();
  // Its rigs take 15 s to start.
  const fiveTimesAsFast = () => opened + 5 * (Date.now() - opened);
  const twin = await startTwin({ locale: "sv-SE", miners: 3, key, clock: fiveTimesAsFast });
  const miner = twin.miners.find(({ canStop }) => canStop);
  if (miner === undefined) throw new Error("no miner of the twin can be stopped");
  return {
    platform: {
      name: "Rigbridge",
      service: { url: twin.url, key, locale: "sv-SE", poll: 1 },
      rigs: [{ miner: miner.name, name: "Garage" }],
    },
    name: "Garage",
    rule: { name: "Backup pool", runs: true },
    mines: () => miner.status === "Mining",
    startedAt: () => miner.model.startedAt,
    refuse: () => {},
    off: () => miner.switchOff(),
    on: async () => miner.switchOn(),
    close: () => twin.close(),
  };
}
