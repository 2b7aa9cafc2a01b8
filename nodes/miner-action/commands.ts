import type { Control, ControlKey, Miner, MinerAction, OperationName, ProblemCode } from "rigbridge";

/** The kind of value that a command takes, for the editor's field. */
export type Takes = "nothing" | "control" | "pool" | "listed-pool" | "template" | "rule" | "temperature" | "watts";

/** Why a miner cannot execute a command, as a key under `hindrance` in the catalogue; with the error's code. */
export const hindranceCodes = {
  "no-control": "control.absent",
  offline: "rig.unreachable",
  silent: "rig.unreachable",
  unsupported: "service.unsupported",
  "no-room": "control.absent",
  "no-pool": "control.absent",
} as const satisfies Record<string, ProblemCode>;

export interface Hindrance {
  readonly key: keyof typeof hindranceCodes;
  /** Whether waiting does not help. */
  readonly lasting: boolean;
}

interface Command {
  readonly takes: Takes;
  /** Whether this miner supports the command, by its name. */
  readonly isSupported: (miner: Miner, name: string) => boolean;
  /** The reason if it does not. */
  readonly missing: Hindrance["key"];
  /** A Rigbridge extension, which no other server offers. */
  readonly isExtension?: true;
}

/** Commands for a pool that the miner lists, with the operation's action. */
export const poolActions = {
  pool_prioritize: "prioritize",
  pool_enable: "enable",
  pool_disable: "disable",
  pool_remove: "remove",
} as const;
export type PoolCommand = keyof typeof poolActions;

/** `board` stands for the control of each board, `board_<slot>`. */
type ControlName = Exclude<ControlKey, `board_${number}`> | "board";

const miningSwitch: Command = {
  takes: "nothing",
  isSupported: ({ canStart, canStop }) => canStart || canStop,
  missing: "no-control",
};
const room: Command = {
  takes: "temperature",
  isSupported: ({ heating }) => heating !== null,
  missing: "no-room",
  isExtension: true,
};
const control: Command = {
  takes: "control",
  isSupported: (miner, name) => controlOf(miner, name) !== undefined,
  missing: "no-control",
};
const listedPool = (can: (pool: Miner["poolList"][number]) => boolean): Command => ({
  takes: "listed-pool",
  isSupported: ({ poolList }) => poolList.some(can),
  missing: "no-pool",
});

/** Every action and control of the contract, in the editor's order; null: the control's own name is the command. */
const commands = {
  start: miningSwitch,
  stop: miningSwitch,
  restart: { takes: "nothing", isSupported: ({ canRestart }) => canRestart, missing: "no-control" },
  reboot: { takes: "nothing", isSupported: ({ canReboot }) => canReboot, missing: "no-control" },
  change_pool: {
    takes: "pool",
    isSupported: ({ canPoolSwitch, poolList }) => canPoolSwitch || poolList.some(({ canPrioritize }) => canPrioritize),
    missing: "no-control",
  },
  add_pool: { takes: "pool", isSupported: ({ canPoolSave }) => canPoolSave, missing: "no-control" },
  set_target_temperature: room,
  set_room_temperature: room,
  set_surplus: { takes: "watts", isSupported: () => true, missing: "no-control", isExtension: true },
  apply_template: { takes: "template", isSupported: () => true, missing: "unsupported" },
  rule: { takes: "rule", isSupported: () => true, missing: "unsupported" },
  set: null,
  set_power_limit: null,
  set_mode: null,
  mining: control,
  power_target: control,
  power_limit: control,
  throttle: control,
  mode: control,
  frequency: control,
  voltage: control,
  fan: control,
  temperature_target: control,
  locate: control,
  board: control,
  pool_prioritize: listedPool(({ canPrioritize }) => canPrioritize),
  pool_enable: listedPool(({ canEnable }) => canEnable),
  pool_disable: listedPool(({ canDisable }) => canDisable),
  pool_remove: listedPool(({ canRemove }) => canRemove),
} as const satisfies Record<MinerAction | ControlName | PoolCommand, Command | null>;

/** What users can write as an action. */
export const commandNames = Object.entries(commands).flatMap(([name, command]) =>
  command === null ? [] : [name === "board" ? "board_0" : name],
);

/** null if the name is unknown. */
export function commandNamed(name: string): Command | null {
  const key = /^board_\d{1,2}$/.test(name) ? "board" : name;
  return name !== "board" && isIn(commands, key) ? commands[key] : null;
}

export const isPoolCommand = (name: string): name is PoolCommand => isIn(poolActions, name);

const isIn = <T extends object>(table: T, name: string): name is keyof T & string => Object.hasOwn(table, name);

const controlOf = (miner: Miner, name: string): Control | undefined => miner.controls.find(({ key }) => key === name);

/** Why this miner cannot execute the command; null if it can, or if that is unknown. */
export function hindrance(name: string, miner: Miner, features: ReadonlySet<OperationName>): Hindrance | null {
  const command = commandNamed(name);
  if (command === null || !features.has(isPoolCommand(name) ? "minerPoolAction" : "minerAction"))
    return { key: "unsupported", lasting: true };
  // A server that lists commands has all extensions.
  if (command.isExtension && !features.has("listCommands")) return { key: "unsupported", lasting: true };
  if (command.isSupported(miner, name)) return null;
  if (miner.isOffline) return { key: "offline", lasting: false };
  // What it can do is not known until it answers, as while it restarts.
  return miner.hasValidStatus ? { key: command.missing, lasting: true } : { key: "silent", lasting: false };
}

/** A command as the editor offers it for some miners. */
export interface Offer {
  readonly value: string;
  readonly takes: Takes;
  /** For a control, that of the first miner that has it. */
  readonly control: Control | null;
  /** Miners that cannot execute it, and why. */
  readonly cannot: readonly { readonly name: string; readonly reason: Hindrance["key"]; readonly lasting: boolean }[];
  /** Whether no miner can ever execute it. */
  readonly isGrey: boolean;
}

/** Every command, and why these miners cannot execute it; boards only of slots that one of them has. */
export function offers(miners: readonly Miner[], features: ReadonlySet<OperationName>): Offer[] {
  const boards = new Set(
    miners.flatMap((miner) => miner.controls.map(({ key }) => key)).filter((key) => key.startsWith("board_")),
  );
  const names = Object.keys(commands).flatMap((name) => (name === "board" ? [...boards] : [name]));
  return names.flatMap((value) => {
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
