import { createServer, type ServerResponse } from "node:http";
import { pino } from "pino";
import type { Messages } from "../../src/contract/messages.ts";
import type { Input, MiningService, Reply } from "../../src/contract/service.ts";
import type { CommandTimeouts } from "../../src/service/commands/command-executor.ts";
import { type RunningService, startService } from "../../src/service/index.ts";
import { turnIntervalMs } from "../../src/service/power/loops.ts";
import type { Repeat } from "../../src/service/repeat.ts";
import { type Farm, type RigSpec, startFarm } from "../../src/simulator/index.ts";
import type { Store } from "../../src/store/index.ts";
import { openStore } from "../any-store.ts";
import { ownHost } from "../own-host.ts";
import { caller, configOf } from "./bench.ts";

export interface LoopBenchOptions {
  readonly rigs: readonly RigSpec[];
  readonly clock: () => number;
  /** As in the file, by the rigs' addresses. */
  readonly config: (addresses: readonly string[]) => Record<string, unknown>;
  /** ms. */
  readonly timeouts?: CommandTimeouts;
  /** Whether the rigs are stopped before the service reads them for the first time. */
  readonly isStopped?: boolean;
  /** What topics are heard at. */
  readonly messages?: Messages;
}

/** A service over virtual rigs, whose loops turn when a test says so. */
export interface LoopBench {
  readonly farm: Farm;
  readonly store: Store;
  readonly service: MiningService;
  /** Miners in the order of the rigs. */
  readonly ids: readonly number[];
  /** Reads all rigs, as the service does by itself, and turns the loops. */
  turn(): Promise<void>;
  miner(index: number): Promise<Reply<"getMiner">>;
  act(index: number, action: Partial<Input<"minerAction">>): Promise<Reply<"minerAction">>;
  /** Whether each rig mines. */
  mining(): boolean[];
  /** Commands of all miners, oldest first. */
  commands(): Promise<string[]>;
  notifications(): Promise<string[]>;
  /** Waits until no read, command, run or turn of a loop is under way. */
  idle(): Promise<void>;
  /** Another run over the same store and rigs, with these keys of the file changed. */
  restart(changed?: Record<string, unknown>): Promise<void>;
}

const open: (() => Promise<void>)[] = [];

export async function closeLoopBenches(): Promise<void> {
  for (const close of open.splice(0).reverse()) await close();
}

const log = pino({ level: "silent" });

export async function openLoopBench(options: LoopBenchOptions): Promise<LoopBench> {
  const { rigs, clock, config, messages, timeouts, isStopped = false } = options;
  const host = ownHost();
  const farm = await startFarm({ rigs: rigs.map((rig) => ({ host, ...rig })), clock });
  if (isStopped) for (const { model } of farm.rigs) model.mining = false;
  const store = await openStore({ file: ":memory:", now: clock });
  const written = config(farm.rigs.map(({ address }) => address));
  let turn = async (): Promise<void> => undefined;
  const repeat: Repeat = (work, ms) => {
    if (ms !== turnIntervalMs) return () => undefined;
    turn = work;
    return () => {
      turn = async () => undefined;
    };
  };
  const ids = farm.rigs.map((_, index) => 1_000_000_001 + index);
  const start = async (changed: Record<string, unknown> = {}): Promise<RunningService> => {
    const started = await startService({
      config: configOf({ ...written, ...changed }),
      store,
      log,
      now: clock,
      repeat,
      ...(messages === undefined ? {} : { messages }),
      ...(timeouts === undefined ? {} : { commandTimeouts: timeouts }),
    });
    for (const id of ids) await started.pollMiner({ id }, caller);
    return started;
  };
  let service = await start();
  open.push(async () => {
    await service.close();
    await store.close();
    await farm.close();
  });
  return {
    farm,
    store,
    ids,
    get service() {
      return service;
    },
    turn: async () => {
      for (const id of ids) await service.pollMiner({ id }, caller);
      await turn();
    },
    idle: () => service.settled(),
    miner: (index) => service.getMiner({ id: ids[index] ?? 0 }, caller),
    act: (index, action) => service.minerAction({ id: ids[index] ?? 0, action: "start", ...action }, caller),
    mining: () => farm.rigs.map(({ model }) => model.mining),
    commands: async () =>
      (await service.listCommands({}, caller)).commandList
        .toReversed()
        .map(({ minerId, actor, action, parameters, state }) =>
          [minerId - 1_000_000_000, actor, action, ...Object.values(parameters), state].join(" "),
        ),
    notifications: async () =>
      (await service.listNotifications({}, caller)).notificationList
        .filter(({ title }) => title !== "New best share")
        .map(({ title, message }) => `${title}: ${message}`),
    restart: async (changed) => {
      await service.close();
      service = await start(changed);
    },
  };
}

/** A web server with one answer, which a test may change. */
export interface ValueServer {
  readonly url: string;
  /** Requests so far. */
  readonly asked: readonly { readonly url: string; readonly headers: NodeJS.Dict<string | string[]> }[];
  answer: string | ((response: ServerResponse) => void);
}

export async function openValueServer(answer: ValueServer["answer"] = ""): Promise<ValueServer> {
  const asked: ValueServer["asked"][number][] = [];
  const server = createServer((request, response) => {
    asked.push({ url: request.url ?? "", headers: request.headers });
    if (typeof values.answer === "string") response.end(values.answer);
    else values.answer(response);
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const address = server.address();
  const port = typeof address === "object" && address !== null ? address.port : 0;
  const values: ValueServer = { url: `http://127.0.0.1:${port}/value`, asked, answer };
  open.push(async () => {
    server.closeAllConnections();
    await new Promise((resolve) => server.close(resolve));
  });
  return values;
}
