import { type Logger, pino } from "pino";
import { Config } from "../../src/config/schema.ts";
import type { Messages } from "../../src/contract/messages.ts";
import type { Caller, Input, Reply } from "../../src/contract/service.ts";
import { openDemo, type RunningService, type ServiceOptions, startService } from "../../src/service/index.ts";
import type { Repeat } from "../../src/service/repeat.ts";
import { type Farm, type RigSpec, type SimulatedRig, startFarm } from "../../src/simulator/index.ts";
import type { Store } from "../../src/store/index.ts";
import { openStore } from "../any-store.ts";
import { ownHost } from "../own-host.ts";
import { workers } from "../pollers.ts";

export const caller: Caller = { actor: "test" };

export interface BenchOptions {
  readonly rigs?: readonly RigSpec[];
  /** The simulator's clock, and the service's unless `now` says otherwise. */
  readonly clock?: () => number;
  readonly store?: Store;
  readonly demo?: readonly { readonly address: string; readonly name: string }[];
  readonly demoLeft?: () => void;
  /** Silent unless one is given. */
  readonly log?: Logger;
  /** As in the file; rigs are read when a test asks, and hardly ever by themselves. */
  readonly config?: Record<string, unknown>;
  /** Where plugs speak by messages. */
  readonly messages?: Messages;
  readonly eventsKept?: number;
  readonly reportPorts?: readonly number[];
  readonly agentGraceMs?: number;
  readonly monotonicNow?: () => number;
  readonly runs?: ServiceOptions["runs"];
  readonly ruleTurns?: ServiceOptions["ruleTurns"];
  readonly switchingTurns?: ServiceOptions["switchingTurns"];
  readonly historyTurns?: ServiceOptions["historyTurns"];
  /** Runs what turns again and again; by default a timer. */
  readonly repeat?: Repeat;
}

/** A service with its store over virtual rigs on real sockets. */
export interface Bench {
  readonly farm: Farm;
  readonly store: Store;
  readonly service: RunningService;
  rig(index: number): SimulatedRig;
  /** Adds a miner and reads it once. */
  add(address: string, said?: Partial<Input<"addMiner">>): Promise<number>;
  get(id: number): Promise<Reply<"getMiner">>;
  poll(id: number): Promise<Reply<"pollMiner">>;
  act(id: number, action: Partial<Input<"minerAction">>): Promise<Reply<"minerAction">>;
  commands(id: number): Promise<Reply<"listCommands">["commandList"]>;
  /** Without those of best shares, which depend on the time that a test takes. */
  notifications(): Promise<string[]>;
  /** Waits until no read, command, run, search or message is under way. */
  idle(): Promise<void>;
  /** Another run of the service over the same store and rigs; `meanwhile` is done between the two. */
  restart(config?: Record<string, unknown>, meanwhile?: () => Promise<void>): Promise<void>;
}

const silent = pino({ level: "silent" });

/** The timeout is only a limit against hanging: a test may stand still for longer than a rig needs. */
export function configOf(config: Record<string, unknown> = {}): Config {
  const parsed = Config.parse({ poll: { interval: 3600, timeout: 30 }, display: { timeZone: "UTC" }, ...config });
  return { ...parsed, poll: { ...parsed.poll, workers } };
}

/** Benches that the present test has opened; `closeBenches` ends them. */
const open: (() => Promise<void>)[] = [];

export async function closeBenches(): Promise<void> {
  for (const close of open.splice(0).reverse()) await close();
}

export async function openBench(options: BenchOptions = {}): Promise<Bench> {
  const clock = options.clock ?? Date.now;
  const host = ownHost();
  const farm = await startFarm({ rigs: (options.rigs ?? []).map((rig) => ({ host, ...rig })), clock });
  const store = options.store ?? (await openStore({ file: ":memory:", now: clock }));
  const { demo, demoLeft } = options;
  const demoOver = (miners: typeof demo = []) =>
    openDemo({
      config: Config.parse({ miners: miners.map((miner) => ({ ...miner, tags: ["demo"] })) }),
      over: store,
      hasPast: false,
      left: async () => demoLeft?.(),
      now: clock,
    });
  const start = async (config: Record<string, unknown> = options.config ?? {}) =>
    startService({
      config: configOf(config),
      store,
      log: options.log ?? silent,
      now: clock,
      ...(demo === undefined ? {} : { demo: await demoOver(demo) }),
      ...(options.messages === undefined ? {} : { messages: options.messages }),
      ...(options.reportPorts === undefined ? {} : { reportPorts: options.reportPorts }),
      ...(options.eventsKept === undefined ? {} : { eventsKept: options.eventsKept }),
      ...(options.agentGraceMs === undefined ? {} : { agentGraceMs: options.agentGraceMs }),
      ...(options.runs === undefined ? {} : { runs: options.runs }),
      ...(options.ruleTurns === undefined ? {} : { ruleTurns: options.ruleTurns }),
      ...(options.switchingTurns === undefined ? {} : { switchingTurns: options.switchingTurns }),
      ...(options.historyTurns === undefined ? {} : { historyTurns: options.historyTurns }),
      ...(options.repeat === undefined ? {} : { repeat: options.repeat }),
      ...(options.monotonicNow === undefined ? {} : { monotonicNow: options.monotonicNow }),
      ...(options.repeat === undefined ? {} : { repeat: options.repeat }),
    });
  let service = await start();
  open.push(async () => {
    await service.close();
    await store.close();
    await farm.close();
  });
  const rig = (index: number): SimulatedRig => {
    const found = farm.rigs[index];
    if (found === undefined) throw new Error(`the farm has no rig ${index}`);
    return found;
  };
  return {
    farm,
    store,
    get service() {
      return service;
    },
    rig,
    add: async (address, said = {}) => {
      const { id } = await service.addMiner({ address, ...said }, caller);
      await service.pollMiner({ id }, caller);
      return id;
    },
    get: (id) => service.getMiner({ id }, caller),
    poll: (id) => service.pollMiner({ id }, caller),
    act: (id, action) => service.minerAction({ id, action: "start", ...action }, caller),
    commands: async (id) => (await service.listCommands({ miner: id }, caller)).commandList,
    notifications: async () =>
      (await service.listNotifications({}, caller)).notificationList
        .filter(({ title }) => title !== "New best share")
        .map(({ title, message }) => `${title}: ${message}`),
    idle: () => service.settled(),
    restart: async (config, meanwhile = async () => undefined) => {
      await service.close();
      await meanwhile();
      service = await start(config);
    },
  };
}
