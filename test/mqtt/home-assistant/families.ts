import { pino } from "pino";
import { Config } from "../../../src/config/index.ts";
import type { Group, Miner, MinerGroup } from "../../../src/contract/resources.ts";
import type { Caller, MiningService } from "../../../src/contract/service.ts";
import type { DeviceContext, Place } from "../../../src/mqtt/home-assistant/device.ts";
import { displayUnitFor, type MinerWithUid } from "../../../src/mqtt/miner-state.ts";
import { topicsOf } from "../../../src/mqtt/topics.ts";
import { startService } from "../../../src/service/index.ts";
import { type SimulatedRig, startFarm } from "../../../src/simulator/index.ts";
import { openStore } from "../../../src/store/index.ts";
import { type Specimen, specimens } from "../../docs/specimens.ts";
import { commandLimits } from "../../until.ts";

/** A real service over a virtual rig of every family, each read twice; the first heats a room, all are in a group. */
export interface Families {
  readonly service: MiningService;
  /** In the order of the families; "Rig 1" is the first. */
  readonly rigs: readonly SimulatedRig[];
  readonly miners: readonly MinerWithUid[];
  readonly groups: readonly Group[];
  read(): Promise<readonly MinerWithUid[]>;
  close(): Promise<void>;
}

export const caller: Caller = { actor: "test" };

/** `clock`: epoch ms of the rigs. */
export async function openFamilies(
  families: readonly Specimen[] = specimens,
  clock: () => number = Date.now,
): Promise<Families> {
  const rigs = families.map(({ spec }) => ({ ...spec, warm: true, restartSeconds: 0 }));
  const farm = await startFarm({ rigs, clock });
  const store = await openStore({ file: ":memory:", now: Date.now });
  const config = Config.parse({
    // The timeout is only a limit against hanging: a busy machine may stand still for longer than a rig needs.
    poll: { interval: 3600, timeout: 30 },
    rates: { btc: 60_000 },
    coins: [{ name: "Bitcoin", shortName: "BTC", algorithm: "SHA-256", profit: 4e-13 }],
    groups: [{ name: "Hall A", groups: [{ name: "Rack 1" }] }],
    pools: [
      { name: "North", url: "stratum+tcp://north.example.com:3333", worker: "farm", coin: "BTC" },
      { name: "South", url: "stratum+tcp://south.example.com:3333", worker: "farm", coin: "BTC" },
    ],
    miners: farm.rigs.map(({ address }, index) => ({
      address,
      name: `Rig ${index + 1}`,
      group: index % 2 === 0 ? "Hall A" : "Rack 1",
      ...families[index]?.credentials,
    })),
    heating: [{ name: "Study", miner: "Rig 1", target: 21, roomTemperature: { api: true } }],
  });
  const service = await startService({ config, store, log: pino({ level: "silent" }), commandTimeouts: commandLimits });
  const read = async (): Promise<readonly MinerWithUid[]> => {
    const listed = await minersOf(service);
    for (const { id } of listed) await service.pollMiner({ id }, caller);
    return (await minersOf(service)).flatMap((miner) => (miner.uid === null ? [] : [{ ...miner, uid: miner.uid }]));
  };
  await read();
  return {
    service,
    rigs: farm.rigs,
    miners: await read(),
    groups: await service.listGroups({}, caller),
    read,
    close: async () => {
      await service.close();
      await store.close();
      await farm.close();
    },
  };
}

async function minersOf(service: MiningService): Promise<Miner[]> {
  return minersIn((await service.listMiners({}, caller)).groupList);
}

const minersIn = (groups: readonly MinerGroup[]): Miner[] =>
  groups.flatMap(({ minerList, groupList = [] }) => [...minerList, ...minersIn(groupList)]);

export const displayOf = ({ readings }: Miner) => displayUnitFor(readings.hashrateExpected ?? readings.hashrate);

export const context: DeviceContext = {
  base: "rigbridge",
  topics: topicsOf("rigbridge"),
  version: "1.2.3",
  currency: "SEK",
  detail: false,
  pools: ["North", "South"],
  rules: [],
  farmName: "Mining farm",
  objectIds: new Map(),
};

export const alone: Place = { via: null, area: null };
