import { pino } from "pino";
import type { RunStep } from "../../src/contract/steps.ts";
import { Steps } from "../../src/contract/steps.ts";
import type { RunRecord, RunRequest } from "../../src/service/automation/run-types.ts";
import { openCore } from "../../src/service/core.ts";
import type { MinerRegistry } from "../../src/service/miners/miner-registry.ts";
import type { ServiceOptions } from "../../src/service/options.ts";
import { startRooms } from "../../src/service/room.ts";
import { openAutomation, type RunsRoom } from "../../src/service/rooms/automation.ts";
import { type Commands, openCommands } from "../../src/service/rooms/commands.ts";
import { openMiners } from "../../src/service/rooms/miners.ts";
import { openMoney } from "../../src/service/rooms/money.ts";
import { openNotifications } from "../../src/service/rooms/notifications.ts";
import { openPower } from "../../src/service/rooms/power.ts";
import { type Farm, type RigSpec, startFarm } from "../../src/simulator/index.ts";
import type { Store } from "../../src/store/index.ts";
import { openStore } from "../any-store.ts";
import { ownHost } from "../own-host.ts";
import { configOf } from "./bench.ts";

export interface RunBenchOptions {
  readonly rigs: readonly RigSpec[];
  readonly clock?: () => number;
  readonly config?: Record<string, unknown>;
  readonly messages?: ServiceOptions["messages"];
}

/** The runs of a service, without its operations, over virtual rigs on real sockets. */
export interface RunBench {
  readonly farm: Farm;
  readonly store: Store;
  readonly ids: readonly number[];
  readonly automation: RunsRoom;
  readonly commands: Commands;
  /** The requests that changed something at a rig. */
  writes(index: number): string[];
  /** Begins a run for a rule, and waits for its end. */
  run(steps: readonly object[], more?: Partial<RunRequest>): Promise<RunRecord>;
  begin(steps: readonly object[], more?: Partial<RunRequest>): Promise<RunRecord>;
  /** Takes in a miner that was changed in the store. */
  put(miner: Parameters<MinerRegistry["put"]>[0]): void;
  /** Another start of the service over the same store and rigs. */
  restart(): Promise<void>;
}

const open: (() => Promise<void>)[] = [];

export async function closeRunBenches(): Promise<void> {
  for (const close of open.splice(0).reverse()) await close();
}

let occurrences = 0;

/** "done done skipped" for each miner of a run. */
export const statesOf = ({ miners }: RunRecord): string[] =>
  miners.map(({ steps }) => steps.map(({ state }) => state).join(" "));

export const messagesOf = ({ miners }: RunRecord): string[] =>
  miners.flatMap(({ steps }) => steps.map(({ message }) => message));

export async function openRunBench({ rigs, clock = Date.now, config, messages }: RunBenchOptions): Promise<RunBench> {
  const host = ownHost();
  const farm = await startFarm({ rigs: rigs.map((rig) => ({ host, ...rig })), clock });
  const store = await openStore({ file: ":memory:", now: clock });
  const declared = farm.rigs.map(({ address, kind }, index) => ({ address, driver: kind, name: `rig ${index}` }));
  const log = pino({ level: "silent" });
  const start = async () => {
    const options = {
      config: configOf({ ...config, miners: declared }),
      store,
      log,
      now: clock,
      ...(messages && { messages }),
    };
    const core = await openCore(options);
    const miners = openMiners(core);
    const { registry } = miners;
    const commands = openCommands(core, miners);
    const power = openPower(core, miners, commands);
    const [money, notifications] = [openMoney(core, miners), openNotifications(core, miners)];
    const automation = openAutomation(core, { miners, money, notifications, commands, power });
    const readAll = async () => {
      for (const { rig } of registry.all()) await registry.fleet.poll(rig);
    };
    const close = await startRooms([core, miners, commands, { start: readAll }, automation]);
    return { automation, commands, close, registry };
  };
  let service = await start();
  open.push(async () => {
    await service.close();
    await store.close();
    await farm.close();
  });
  const begin: RunBench["begin"] = async (steps, more = {}) => {
    occurrences += 1;
    const parsed: RunStep[] = Steps.parse(steps);
    const request: RunRequest = {
      cause: { kind: "rule", key: "too-hot", id: 1 },
      occurrence: `test ${occurrences}`,
      caller: { actor: "rule:too-hot" },
      minerIds: farm.rigs.map((_, index) => firstMiner + index),
      steps: parsed,
      ...more,
    };
    const record = await service.automation.runs.begin(request);
    if (record === "seen") throw new Error("this occurrence was begun before");
    return record;
  };
  return {
    farm,
    store,
    ids: farm.rigs.map((_, index) => firstMiner + index),
    get automation() {
      return service.automation;
    },
    get commands() {
      return service.commands;
    },
    writes: (index) => farm.rigs[index]?.requests.writes ?? [],
    begin,
    run: async (steps, more) => service.automation.runs.ended((await begin(steps, more)).id),
    put: (miner) => service.registry.put(miner),
    restart: async () => {
      await service.close();
      service = await start();
    },
  };
}

const firstMiner = 1_000_000_001;
