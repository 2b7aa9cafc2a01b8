import { type Caller, type Miner, type MiningService, RigbridgeError } from "rigbridge";
import { execute, type Intent, toServiceCall } from "rigbridge/farm";
import type { FarmView } from "./farm-view.ts";

/** What is wanted, of these miners. */
export interface CommandRequest {
  readonly miners: readonly number[];
  readonly intents: readonly Intent[];
}

/** Says it to the rigs; rejects with a RigbridgeError unless all have done it. */
export type SendCommand = (request: CommandRequest) => Promise<void>;

/** ms that who flips a switch is let wait: Homebridge itself gives up after 9 s, and complains. */
const patience = 8_000;
/** Miners that are told at once. */
const parallel = 64;

/** Tells miners, and takes in how they are then before it says that it was done. */
export function commandSender(service: MiningService, caller: Caller, view: FarmView): SendCommand {
  const one = async (id: number, intents: readonly Intent[]): Promise<void> => {
    const miner = view.get(id);
    if (miner === undefined) throw new RigbridgeError("not.found", "This rig is not there any more");
    const calls = intents.map((intent) => toServiceCall(miner, intent, () => undefined));
    const { state, taken, message } = await execute(service, caller, id, calls);
    if (state !== "done" && taken === undefined)
      throw new RigbridgeError("rig.timeout", `${miner.name} takes its time: ${message}`);
    const detail = await service.getMiner({ id }, caller).catch(() => undefined);
    if (detail !== undefined) await view.again(withoutMetaData(detail));
  };
  return async ({ miners, intents }) => {
    if (miners.length === 0) throw new RigbridgeError("control.absent", "There is no rig that can be told that");
    const waiting = [...miners];
    const failures: unknown[] = [];
    const work = async (): Promise<void> => {
      for (let id = waiting.shift(); id !== undefined; id = waiting.shift())
        await one(id, intents).catch((error: unknown) => failures.push(error));
    };
    const all = Promise.all(Array.from({ length: Math.min(parallel, miners.length) }, work));
    await withinTimeout(all);
    const [first] = failures;
    if (first === undefined) return;
    const message = first instanceof RigbridgeError ? first.message : String(first);
    const code = first instanceof RigbridgeError ? first.code : "internal";
    const count = miners.length === 1 ? "" : `${failures.length} of ${miners.length} rigs did not do it; the first: `;
    throw new RigbridgeError(code, `${count}${message}`, { cause: first });
  };
}

/** Throws `rig.timeout` when it takes too long. It goes on; what comes of it is shown when it is known. */
export async function withinTimeout(done: Promise<unknown>): Promise<void> {
  const { promise, resolve } = Promise.withResolvers<boolean>();
  const timer = setTimeout(() => resolve(false), patience);
  const inTime = await Promise.race([done.then(() => true), promise]).finally(() => clearTimeout(timer));
  if (!inTime) throw new RigbridgeError("rig.timeout", `Not done within ${patience / 1000} s; it goes on`);
}

const withoutMetaData = <T extends Miner & { metaData: unknown }>({ metaData: _, ...miner }: T): Omit<T, "metaData"> =>
  miner;
