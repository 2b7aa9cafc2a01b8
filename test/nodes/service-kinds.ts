import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { pino } from "pino";
import { connectService } from "../../src/client/index.ts";
import { Config } from "../../src/config/index.ts";
import { minersIn } from "../../src/contract/miners-in.ts";
import type { MiningService } from "../../src/contract/service.ts";
import { startHttpServer } from "../../src/http/index.ts";
import { startService } from "../../src/service/index.ts";
import { type Farm, startFarm, startTwin } from "../../src/simulator/index.ts";
import { openStore } from "../../src/store/index.ts";
import { ownHost } from "../own-host.ts";
import type { FlowNode } from "./real-node-red.ts";

/** A service of one kind, for nodes. */
export interface OpenedForNodes {
  /** The `rigbridge-service` of a flow, with the id "service". */
  readonly node: FlowNode;
  readonly credentials: Readonly<Record<string, Readonly<Record<string, string>>>>;
  /** Where services and nodes store their data. */
  readonly userDir: string;
  /** Names of miners: one that can be stopped, started and restarted, and one with two pools or more. */
  readonly steered: string;
  readonly pooled: string;
  /** A group with at least one miner. */
  readonly group: string;
  /** All miners, by name. */
  readonly miners: readonly string[];
  /** Lets time pass until commands have taken effect. */
  pass(seconds: number): void;
  /** Switches the miner of this name off; the service notices it soon. */
  switchOff(name: string): void;
  close(): Promise<void>;
}

export interface NodeServiceKind {
  readonly name: string;
  /** Offers nothing but the documented operations and events. */
  readonly isReference: boolean;
  open(): Promise<OpenedForNodes>;
}

/** The three kinds that a `rigbridge-service` can use. */
export const serviceKinds: readonly NodeServiceKind[] = [
  { name: "a service inside Node-RED", isReference: false, open: openInside },
  { name: "a Rigbridge elsewhere", isReference: false, open: openElsewhere },
  { name: "the reference product", isReference: true, open: openReference },
];

const log = pino({ level: "silent" });
export const testKey = "invented-key-of-the-node-tests";

const names = ["Rig A", "Rig B", "Rig C"];

const startRigs = (): Promise<Farm> =>
  startFarm({
    rigs: [
      { kind: "axeos", warm: true },
      { kind: "cgminer", warm: true },
      { kind: "cgminer", warm: true },
    ],
  });

const placed = (farm: Farm) =>
  farm.rigs.map(({ address }, index) => ({
    address,
    name: names[index] ?? "",
    group: index === 2 ? "Hall B" : "Hall A",
  }));

const switchOff = (farm: Farm) => (name: string) => farm.rigs[names.indexOf(name)]?.powerOff();

const own = { steered: "Rig A", pooled: "Rig B", group: "Hall B", miners: names, pass: () => {} } as const;

async function openInside(): Promise<OpenedForNodes> {
  const farm = await startRigs();
  const userDir = await mkdtemp(join(tmpdir(), "nodes-"));
  return {
    ...own,
    node: { id: "service", type: "rigbridge-service", mode: "inside", rigs: placed(farm), interval: 1, version: 1 },
    credentials: {},
    userDir,
    switchOff: switchOff(farm),
    close: async () => {
      await farm.close();
      await rm(userDir, { recursive: true, force: true });
    },
  };
}

export interface OpenedElsewhere extends OpenedForNodes {
  /** The service itself, for other callers. */
  readonly service: MiningService;
  away(): Promise<void>;
  back(): Promise<void>;
}

/** A Rigbridge that can be stopped and restarted at the same address. */
export async function openElsewhere(): Promise<OpenedElsewhere> {
  const farm = await startRigs();
  const userDir = await mkdtemp(join(tmpdir(), "nodes-"));
  const store = await openStore({ file: ":memory:", now: Date.now });
  const host = ownHost();
  const settings = Config.parse({
    http: { host, port: 0, key: testKey },
    poll: { interval: 1 },
    groups: [{ name: "Hall A" }, { name: "Hall B" }],
    pools: [{ name: "North", url: "stratum+tcp://north.example.com:3333", worker: "farm", coin: "BTC" }],
    users: [
      { name: "anna", privilege: "control", groups: ["Hall B"] },
      { name: "visitor", privilege: "view" },
    ],
    miners: placed(farm),
  });
  const service = await startService({ config: settings, store, log });
  const { groupList } = await service.listMiners({}, { actor: "test" });
  for (const { id } of minersIn(groupList)) await service.pollMiner({ id }, { actor: "test" });
  const listen = (port: number) =>
    startHttpServer({ service, settings: { ...settings.http, port }, log, version: "test" });
  let server = await listen(0);
  const { url } = server;
  return {
    ...own,
    service,
    node: { id: "service", type: "rigbridge-service", mode: "elsewhere", url, version: 1 },
    credentials: { service: { key: testKey } },
    userDir,
    switchOff: switchOff(farm),
    away: () => server.close(),
    back: async () => {
      server = await listen(Number(new URL(url).port));
    },
    close: async () => {
      await server.close();
      await service.close();
      await store.close();
      await farm.close();
      await rm(userDir, { recursive: true, force: true });
    },
  };
}

async function openReference(): Promise<OpenedForNodes> {
  let passed = 0;
  const clock = () => Date.now() + passed;
  const twin = await startTwin({ locale: "sv-SE", currency: "SEK", miners: 12, key: testKey, clock });
  const userDir = await mkdtemp(join(tmpdir(), "nodes-"));
  const service = connectService({ url: twin.url, key: testKey, locale: "sv-SE" });
  const { groupList } = await service.listMiners({}, { actor: "test" });
  const miners = minersIn(groupList);
  const nameOf = (id: number): string => miners.find((miner) => miner.id === id)?.name ?? "";
  await service.close();
  return {
    node: {
      id: "service",
      type: "rigbridge-service",
      version: 1,
      mode: "elsewhere",
      url: twin.url,
      locale: "sv-SE",
      poll: 1,
    },
    credentials: { service: { key: testKey } },
    userDir,
    steered: nameOf(1_000_000_001),
    pooled: nameOf(1_000_000_002),
    group: groupList.find(({ minerList }) => minerList.length > 0)?.name ?? "",
    miners: miners.map(({ name }) => name),
    pass: (seconds) => {
      passed += seconds * 1000;
    },
    switchOff: (name) => twin.miners.find((miner) => miner.name === name)?.switchOff(),
    close: async () => {
      await twin.close();
      await rm(userDir, { recursive: true, force: true });
    },
  };
}
