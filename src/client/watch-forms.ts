import { RowEvent, ServiceEvent } from "../contract/events.ts";
import { minersIn } from "../contract/miners-in.ts";
import type { Miner } from "../contract/resources.ts";
import { completeFields, type MinerRow } from "../contract/rows.ts";
import type { Caller, CallName, Input, MiningService, Reach } from "../contract/service.ts";
import { byId, outOfReach } from "./changes.ts";
import type { LastLists } from "./last-lists.ts";
import type { Log } from "./log.ts";
import { rowOutOfReach } from "./rows.ts";
import type { ServerSession } from "./server-session.ts";

type OtherEvent = Exclude<ServiceEvent, { readonly type: "miner" }>;
/** The events of a service with the representation of each miner: the miner, or its row. */
export type EventWith<T> = { id: number; type: "miner"; data: T } | OtherEvent;

/** The representation of miners in the watched lists and events. */
export interface Form<T> {
  /** The query of the stream. */
  readonly query: Readonly<Record<string, string>>;
  /** Throws for anything but an event. */
  event(value: unknown): EventWith<T>;
  list(): Promise<Map<number, T>>;
  /** The list that the watcher received last. */
  last(): ReadonlyMap<number, T> | undefined;
  /** Whether that is the list from which the watch continues, by its version; otherwise it is the caller's last one. */
  readonly isNamed: boolean;
  outOfReach(one: T, why: string): T;
}

export interface WatchContext {
  readonly session: ServerSession;
  readonly calls: Pick<MiningService, CallName>;
  readonly pollSeconds: number;
  /** Fires `change` after each write through this client. */
  readonly changes: EventTarget;
  /** The lists that the watcher received last. */
  readonly lastLists: () => LastLists;
  readonly reach: Reach | undefined;
  /** Whether the miners are kept, for reporting each as unreachable; a hundred thousand rows are too much to keep twice. */
  readonly remembers: boolean;
  readonly log: Log | undefined;
}

/** The query of a stream of these events. */
const typesQuery = ({ types }: Input<"watchEvents">): Record<string, string> =>
  types === undefined ? {} : { types: types.join(",") };

/** Whole miners. */
export function minerForm(context: WatchContext, input: Input<"watchEvents">, caller: Caller): Form<Miner> {
  return {
    query: typesQuery(input),
    event: (value) => ServiceEvent.parse(value),
    list: async () => byId(minersIn((await context.calls.listMiners({}, caller)).groupList)),
    last: () => context.lastLists().miners,
    isNamed: false,
    outOfReach,
  };
}

/**
 * Rows, always with the default columns, as the types of a list of rows require. `named`: those of the list from which
 * the watch continues, if this client created it.
 */
export function rowForm(
  context: WatchContext & Pick<MiningService, "listMinerRows">,
  named: ReadonlyMap<number, MinerRow> | undefined,
  input: Input<"watchMinerRows">,
  caller: Caller,
): Form<MinerRow> {
  const { fields } = completeFields(input);
  return {
    query: {
      ...typesQuery(input),
      view: input.view,
      ...(fields === undefined ? {} : { fields: fields.join(",") }),
      ...(input.shown === undefined ? {} : { shown: input.shown.join(",") }),
    },
    event: (value) => RowEvent.parse(value),
    list: async () =>
      new Map((await context.listMinerRows({ view: "list", fields }, caller)).miners.map((row) => [row.id, row])),
    last: () => named ?? context.lastLists().rows,
    isNamed: named !== undefined,
    outOfReach: rowOutOfReach,
  };
}
