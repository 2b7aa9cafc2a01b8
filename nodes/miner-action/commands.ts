import type { Control, ControlKey, Miner, MinerAction, OperationName } from "rigbridge";

/** What a command takes beside its name, for the editor's field. */
export type Takes = "nothing" | "control" | "pool" | "listed-pool" | "template" | "rule" | "temperature" | "watts";

/** Why a miner cannot be told something, as a key under `hindrance`; `lasting` where waiting does not help. */
export interface Hindrance {
  readonly key: "no-control" | "offline" | "unsupported" | "no-room" | "no-pool";
  readonly lasting: boolean;
}

interface Command {
  readonly takes: Takes;
  /** Whether this miner has what it needs. */
  readonly isThere: (miner: Miner) => boolean;
  /** What is missing otherwise. */
  readonly missing: Hindrance["key"];
  /** An addition that services beside Rigbridge do not have. */
  readonly ours?: true;
}

const always = (): boolean => true;

/** Actions of the service by their own names; null: told by the control's name instead. */
const actions = {
  start: { takes: "nothing", isThere: ({ canStart, canStop }) => canStart || canStop, missing: "no-control" },
  stop: { takes: "nothing", isThere: ({ canStart, canStop }) => canStart || canStop, missing: "no-control" },
  restart: { takes: "nothing", isThere: ({ canRestart }) => canRestart, missing: "no-control" },
  reboot: { takes: "nothing", isThere: ({ canReboot }) => canReboot, missing: "no-control" },
  change_pool: {
    takes: "pool",
    isThere: ({ canPoolSwitch, poolList }) => canPoolSwitch || poolList.some(({ canPrioritize }) => canPrioritize),
    missing: "no-control",
  },
  add_pool: { takes: "pool", isThere: ({ canPoolSave }) => canPoolSave, missing: "no-control" },
  set_target_temperature: { takes: "temperature", isThere: heats, missing: "no-room", ours: true },
  set_room_temperature: { takes: "temperature", isThere: heats, missing: "no-room", ours: true },
  set_surplus: { takes: "watts", isThere: always, missing: "no-control", ours: true },
  apply_template: { takes: "template", isThere: always, missing: "unsupported" },
  rule: { takes: "rule", isThere: always, missing: "unsupported" },
  set: null,
  set_power_limit: null,
  set_mode: null,
  locate: null,
} as const satisfies Record<MinerAction, Command | null>;

/** What can be done to a pool that the miner lists, by the operation's word. */
export const poolActions = {
  pool_prioritize: "prioritize",
  pool_enable: "enable",
  pool_disable: "disable",
  pool_remove: "remove",
} as const;
export type PoolCommand = keyof typeof poolActions;

const onPools = {
  pool_prioritize: listedPool(({ canPrioritize }) => canPrioritize),
  pool_enable: listedPool(({ canEnable }) => canEnable),
  pool_disable: listedPool(({ canDisable }) => canDisable),
  pool_remove: listedPool(({ canRemove }) => canRemove),
} as const satisfies Record<PoolCommand, Command>;

/** Controls that are told a value; `restart` and `reboot` are actions. Boards come by their slots. */
const controls = [
  "mining",
  "power_target",
  "power_limit",
  "throttle",
  "mode",
  "frequency",
  "voltage",
  "fan",
  "temperature_target",
  "locate",
] as const satisfies readonly ControlKey[];

function heats({ heating }: Miner): boolean {
  return heating !== null;
}

function listedPool(can: (pool: Miner["poolList"][number]) => boolean): Command {
  return { takes: "listed-pool", isThere: ({ poolList }) => poolList.some(can), missing: "no-pool" };
}

/** By its name; null for a name that is none. */
export function commandNamed(name: string): Command | null {
  const action = isIn(actions, name) ? actions[name] : null;
  if (action !== null) return action;
  if (isPoolCommand(name)) return onPools[name];
  if (!isControl(name)) return null;
  const isThere = (miner: Miner): boolean => controlOf(miner, name) !== undefined;
  return { takes: "control", isThere, missing: "no-control" };
}

export const isPoolCommand = (name: string): name is PoolCommand => isIn(onPools, name);

const isControl = (name: string): boolean => controls.some((key) => key === name) || /^board_\d{1,2}$/.test(name);

const isIn = <T extends object>(table: T, name: string): name is keyof T & string => Object.hasOwn(table, name);

const controlOf = (miner: Miner, name: string): Control | undefined => miner.controls.find(({ key }) => key === name);

/** Why this miner cannot be told this command; null where it can, as far as is known. */
export function hindrance(name: string, miner: Miner, features: ReadonlySet<OperationName>): Hindrance | null {
  const command = commandNamed(name);
  if (command === null || !features.has(isPoolCommand(name) ? "minerPoolAction" : "minerAction"))
    return { key: "unsupported", lasting: true };
  // What only Rigbridge has goes with its other additions.
  if (command.ours && !features.has("listCommands")) return { key: "unsupported", lasting: true };
  if (command.isThere(miner)) return null;
  return miner.isOffline ? { key: "offline", lasting: false } : { key: command.missing, lasting: true };
}

/** A command as the editor offers it for some miners. */
export interface Offered {
  readonly value: string;
  readonly takes: Takes;
  /** Of the first miner that has it, for a control. */
  readonly control: Control | null;
  /** Miners that cannot be told it, and why. */
  readonly cannot: readonly { readonly name: string; readonly reason: Hindrance["key"]; readonly lasting: boolean }[];
  /** Whether none of the miners ever can. */
  readonly isGrey: boolean;
}

/** Every command there is, with what keeps these miners from it; boards only of slots that one of them has. */
export function offered(miners: readonly Miner[], features: ReadonlySet<OperationName>): Offered[] {
  const boards = new Set(
    miners.flatMap((miner) => miner.controls.map(({ key }) => key)).filter((key) => key.startsWith("board_")),
  );
  const told = Object.keys(actions).filter((name) => commandNamed(name) !== null);
  return [...new Set([...told, ...controls, ...boards, ...Object.keys(onPools)])].flatMap((value) => {
    const command = commandNamed(value);
    if (command === null) return [];
    const cannot = miners.flatMap((miner) => {
      const found = hindrance(value, miner, features);
      return found === null ? [] : [{ name: miner.name, reason: found.key, lasting: found.lasting }];
    });
    const control = miners.map((miner) => controlOf(miner, value)).find((each) => each !== undefined) ?? null;
    const isGrey = miners.length > 0 && cannot.length === miners.length && cannot.every(({ lasting }) => lasting);
    return [{ value, takes: command.takes, control, cannot, isGrey }];
  });
}
