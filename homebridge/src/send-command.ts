import {
  type Caller,
  type Heating,
  type Miner,
  type MiningService,
  type PropertyKey,
  properties,
  RigbridgeError,
} from "rigbridge";
import { execute, type Intent, Semaphore, toServiceCall } from "rigbridge/farm";
import type { FarmView } from "./farm-view.ts";

/** Intents for each of these miners. */
export interface CommandRequest {
  readonly miners: readonly number[];
  readonly intents: readonly Intent[];
}

/** A request to set one property, whatever its front end calls it. */
export const setRequest = (miners: readonly number[], property: string, value: string | number | boolean) =>
  ({ miners, intents: [{ kind: "set", property, value: String(value) }] }) as const satisfies CommandRequest;

/** Switches a heater: setting its room's target hands a stopped rig back to the room. */
export const heaterRequest = ({ id }: Miner, { target }: Heating, on: boolean): CommandRequest =>
  on ? setRequest([id], "room_target", target) : setRequest([id], "mining", false);

/** A request in words, for the log: `sets mining to off`; empty if it does nothing. */
export function inWords({ miners, intents }: CommandRequest): string {
  const all = intents.map((intent) => {
    if (intent.kind === "action") return `triggers the action ${intent.action.action}`;
    const property = isPropertyKey(intent.property) ? properties[intent.property] : undefined;
    const name = property?.name.toLowerCase() ?? intent.property;
    if (property?.kind === "trigger") return `triggers ${name}`;
    return `sets ${name} to ${{ true: "on", false: "off" }[intent.value] ?? intent.value}`;
  });
  const count = miners.length > 1 && all.length > 0 ? ` on ${miners.length} rigs` : "";
  return `${all.join(" and ")}${count}`;
}

const isPropertyKey = (name: string): name is PropertyKey => Object.hasOwn(properties, name);

/** Sends a request to the rigs; rejects with a RigbridgeError unless all of them carry it out. */
export type SendCommand = (request: CommandRequest) => Promise<void>;

/** Homebridge itself gives up after 9 s, and logs a complaint. */
const timeoutMs = 8_000;
/** Miners that a request is sent to at once. */
const parallel = 64;

/** Each miner's new state is in the view before its command counts as done. */
export function commandSender(service: MiningService, caller: Caller, view: FarmView): SendCommand {
  const sendTo = async (id: number, intents: readonly Intent[]): Promise<void> => {
    const miner = view.get(id);
    if (miner === undefined) throw new RigbridgeError("not.found", "This rig no longer exists");
    const calls = intents.map((intent) => toServiceCall(miner, intent, () => undefined));
    const { state, taken, message } = await execute(service, caller, id, calls);
    if (state !== "done" && taken === undefined)
      throw new RigbridgeError("rig.timeout", `${miner.name} has not confirmed yet: ${message}`);
    const detail = await service.getMiner({ id }, caller).catch(() => undefined);
    if (detail !== undefined) await view.refresh(withoutMetaData(detail));
  };
  return async ({ miners, intents }) => {
    if (miners.length === 0) throw new RigbridgeError("control.absent", "No rig is available for this command");
    const semaphore = new Semaphore(parallel);
    const failures: unknown[] = [];
    let concerned = miners.length;
    const failed = (error: unknown): void => {
      // A rule that does not apply to this rig, but to another.
      if (error instanceof RigbridgeError && error.code === "nothing.to.do" && concerned > 1) concerned -= 1;
      else failures.push(error);
    };
    await withinTimeout(Promise.all(miners.map((id) => semaphore.run(() => sendTo(id, intents)).catch(failed))));
    const [first] = failures;
    if (first === undefined) return;
    const message = first instanceof RigbridgeError ? first.message : String(first);
    const code = first instanceof RigbridgeError ? first.code : "internal";
    const count = concerned === 1 ? "" : `The command failed on ${failures.length} of ${concerned} rigs; first: `;
    throw new RigbridgeError(code, `${count}${message}`, { cause: first });
  };
}

/** Throws `rig.timeout` if it takes too long. The command continues, and its result is shown once it is available. */
export async function withinTimeout(done: Promise<unknown>): Promise<void> {
  const { promise, resolve } = Promise.withResolvers<boolean>();
  const timer = setTimeout(() => resolve(false), timeoutMs);
  const inTime = await Promise.race([done.then(() => true), promise]).finally(() => clearTimeout(timer));
  if (!inTime) throw new RigbridgeError("rig.timeout", `Not done within ${timeoutMs / 1000} s; the command continues`);
}

const withoutMetaData = <T extends Miner & { metaData: unknown }>({ metaData: _, ...miner }: T): Omit<T, "metaData"> =>
  miner;
