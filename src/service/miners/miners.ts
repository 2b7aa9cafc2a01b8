import { RigbridgeError } from "../../contract/problems.ts";
import type { MetaData, MinerDetail, MinerList } from "../../contract/resources.ts";
import type { Caller, Encoded, Input, MiningService } from "../../contract/service.ts";
import { formatAddress } from "../../link/address.ts";
import { drivers } from "../../link/drivers/index.ts";
import { hasLogin } from "../../link/link.ts";
import { detail } from "../../messages/detail.ts";
import type { Stored, StoredRule } from "../../store/index.ts";
import type { Format } from "../../units/format.ts";
import { done, find, findOwn } from "../crud.ts";
import type { PoolBook } from "../money/pool-book.ts";
import { Placing } from "../places/placing.ts";
import type { Sections } from "../settings/live-settings.ts";
import { type Access, type AccessBook, mayAct } from "../users/access.ts";
import type { ReadShares } from "../users/read-shares.ts";
import { groupIdOf, minersInSections, sectionsWith } from "./groups.ts";
import { type MinerInputContext, newRow, patchOf, refuseManaged } from "./miner-input.ts";
import { formFor, type GroupSection } from "./miner-json-cache.ts";
import type { MinerRegistry } from "./miner-registry.ts";
import { noSettings, presentSettings } from "./miner-settings.ts";
import { refuseConflicts, visiblePlaces } from "./placement.ts";
import { type NoticeCounts, type Totals, totalsOf } from "./summary.ts";

export type MinerOperations = Pick<
  MiningService,
  | "listMiners"
  | "getMiner"
  | "getMinerSettings"
  | "listAddPools"
  | "getMinerPool"
  | "addMiner"
  | "changeMiner"
  | "deleteMiner"
  | "pollMiner"
>;

export interface MinerContext extends MinerInputContext {
  readonly registry: MinerRegistry;
  readonly book: PoolBook;
  readonly accessBook: AccessBook;
  readonly format: Format;
  readonly metaData: (counts: NoticeCounts) => MetaData;
  readonly totals: (access: Access) => Totals;
  readonly shares: ReadShares;
  /** The manual rules that a user can run. */
  readonly manualRules: (access: Access) => readonly Stored<StoredRule>[];
  /** Whether manufacturers' default logins are tried. */
  readonly settings: Sections<"poll" | "logins">;
  /** Runs `add`; the first real miner removes the demo miners. */
  readonly addReal: (add: () => void) => Promise<void>;
  /** Called when a change of miners has added these places. */
  readonly placed: (placing: Placing) => void;
}

/** Lists, adds, changes and removes miners. */
export function minerOperations(context: MinerContext): MinerOperations {
  const { registry, store, book, accessBook, metaData } = context;
  const detailed = (id: number) => {
    const { miner, figures } = registry.display.present(id);
    return { ...miner, metaData: metaData(totalsOf([figures])) };
  };
  return {
    listMiners: async (input, caller) => {
      const preparing = registry.display.jsonCache.prepare(idsOf(input, context, accessBook.of(caller)), "miner");
      if (preparing !== undefined) await preparing;
      const access = accessBook.of(caller);
      const { sections, sums } = listed(context, access, filterOf(input, context, access));
      return { ...listHead(context, sums, access), groupList: groupsOf(registry, sections), metaData: metaData(sums) };
    },
    getMiner: async ({ id }, caller) => {
      registry.entryFor(id, accessBook.of(caller));
      return detailed(id);
    },
    getMinerSettings: async ({ id }, caller) => {
      const { rig } = registry.entryFor(id, accessBook.of(caller));
      return registry.isManaged(id)
        ? { ...noSettings, declaredBy: "host", address: formatAddress(rig.declared.address) }
        : presentSettings(find(store.miners, id, "miner"));
    },
    listAddPools: async ({ id }, caller) => {
      const access = accessBook.of(caller);
      registry.entryFor(id, access);
      return { addPoolList: book.addList(access) };
    },
    getMinerPool: async ({ id, poolId }, caller) => {
      registry.entryFor(id, accessBook.of(caller));
      return registry.display.presentedPool(id, poolId);
    },
    addMiner: async (body, caller) => {
      const access = accessBook.of(caller);
      const placing = new Placing(context.places, store, visiblePlaces(context.places, registry, access));
      const row = newRow(body, context, placing, access);
      refuseConflicts(placing, registry, access);
      const [added] = await store.miners.addAndChange([row], new Map(), placing.changes);
      if (added === undefined) throw new RigbridgeError("internal", "Nothing was written");
      context.placed(placing);
      await context.addReal(() => {
        registry.put(added);
        registry.arrange();
      });
      const { metaData: about, ...miner } = withAdvice(detailed(added.id), row.driver, context);
      const info = `${miner.name} is being recognised; its model and readings follow`;
      return { ...miner, metaData: { ...about, infoList: [...about.infoList, info] } };
    },
    changeMiner: async ({ id, repair, ...body }, caller) => {
      const access = accessBook.of(caller);
      registry.entryFor(id, access);
      const isRepairAlone = Object.values(body).every((value) => value === undefined);
      if (isRepairAlone) {
        if (repair !== undefined) await registry.setRepair(id, repair?.note ?? null);
        return detailed(id);
      }
      const placing = new Placing(context.places, store, visiblePlaces(context.places, registry, access));
      const patch = patchOf({ id, ...body }, context, placing, access);
      refuseConflicts(placing, registry, access);
      for (const row of await store.miners.addAndChange([], new Map([[id, patch]]), placing.changes)) registry.put(row);
      registry.arrange();
      context.placed(placing);
      if (repair !== undefined) await registry.setRepair(id, repair?.note ?? null);
      return detailed(id);
    },
    deleteMiner: async ({ id }, caller) => {
      const { facts } = registry.entryFor(id, accessBook.of(caller));
      refuseManaged(id, registry);
      findOwn(store.miners, id, "miner");
      await store.miners.remove(id);
      await registry.remove(id);
      return done(`${facts.name} removed with its history`);
    },
    pollMiner: async ({ id }, caller) => {
      const { rig } = registry.entryFor(id, accessBook.of(caller));
      if (rig.declared.disabled) throw new RigbridgeError("not.possible", detail("command.disabled"));
      await registry.fleet.poll(rig);
      registry.entryFor(id, accessBook.of(caller));
      return detailed(id);
    },
  };
}

/** GET /api/miners and GET /api/miners/{id} from cached bytes. */
export function encodedMiners(context: MinerContext) {
  const { registry, accessBook, metaData, totals, shares } = context;
  const tail = (counts: NoticeCounts): string => `"metaData":${JSON.stringify(metaData(counts))}`;
  const isWhole = (input: Input<"listMiners">) => Object.values(input).every((value) => value === undefined);
  return {
    prepare: (input: Input<"listMiners">, caller: Caller): Promise<void> | undefined => {
      const access = accessBook.of(caller);
      if (isWhole(input)) return registry.display.jsonCache.prepareList(access);
      shares.take(caller, 0);
      return registry.display.jsonCache.prepare(idsOf(input, context, access), formFor(access));
    },
    list: (input: Input<"listMiners">, caller: Caller): Encoded => {
      const access = accessBook.of(caller);
      const headOf = (sums: Totals) => JSON.stringify(listHead(context, sums, access)).slice(1, -1);
      if (isWhole(input)) {
        const sums = totals(access);
        return registry.display.jsonCache.list(headOf(sums), tail(sums), access);
      }
      shares.take(caller, 0);
      return shares.measured(caller, 0, () => {
        const { sections, sums } = listed(context, access, filterOf(input, context, access));
        return registry.display.jsonCache.part(headOf(sums), tail(sums), sections, {
          fields: input.fields,
          access: access,
        });
      });
    },
    one: (id: number, caller: Caller): Encoded | undefined => {
      const access = accessBook.of(caller);
      if (registry.visible(id, access) === undefined) return undefined;
      return registry.display.jsonCache.one(id, (figures) => tail(totalsOf([figures])), access);
    },
  };
}

type Filter = (id: number) => boolean;

/** The requested miners; null for all. Throws `input.invalid` for a group that is hidden from this access. */
function filterOf(
  { status, group, tag }: Input<"listMiners">,
  { registry, store }: MinerContext,
  access: Access,
): Filter | null {
  if (status === undefined && group === undefined && tag === undefined) return null;
  const groupId = group === undefined ? null : groupIdOf(group, store.groups, access);
  const members = groupId === null ? null : new Set(registry.minersInGroup(groupId));
  return (id) => {
    if (members !== null && !members.has(id)) return false;
    if (tag !== undefined && !registry.entry(id).facts.tags.includes(tag)) return false;
    return status === undefined || status.some((each) => each === registry.display.jsonCache.statusOf(id));
  };
}

/** The ids of the requested miners. Throws like `filterOf`. */
function idsOf(input: Input<"listMiners">, context: MinerContext, access: Access): number[] {
  const isShown = filterOf(input, context, access) ?? (() => true);
  return Array.from(context.registry.entriesFor(access), ({ facts }) => facts.id).filter(isShown);
}

/** The visible ones of the requested miners, and their totals. */
function listed({ registry, totals }: MinerContext, access: Access, isShown: Filter | null) {
  const sections = registry.sectionsFor(access);
  if (isShown === null) return { sections, sums: totals(access) };
  const requested = sectionsWith(sections, isShown);
  return { sections: requested, sums: totalsOf(registry.display.jsonCache.figures(minersInSections(requested))) };
}

function listHead(
  { manualRules, format }: MinerContext,
  { hashrate }: Totals,
  access: Access,
): Omit<MinerList, "groupList" | "metaData"> {
  const manual = manualRules(access);
  const manualActionList = manual.map(({ id, name }) => ({ id, name }));
  return {
    totalHashrate5s: format.hashrate(hashrate),
    hasManualAction: manualActionList.length > 0,
    canManualAction: mayAct(access) && manual.some((rule) => rule.do !== null),
    hasPoolOperations: true,
    manualActionList,
  };
}

const groupsOf = (registry: MinerRegistry, sections: readonly GroupSection[]): MinerList["groupList"] =>
  sections.map(({ id, name, minerIds, groups }) => ({
    id,
    name,
    minerList: minerIds.flatMap((minerId) => registry.display.jsonCache.current(minerId)?.miner ?? []),
    ...(groups.length > 0 ? { groupList: groupsOf(registry, groups) } : {}),
  }));

/** Warns about a missing login before the rig has answered, if its driver needs one. */
function withAdvice(added: MinerDetail, driver: string | null, { settings, registry }: MinerContext) {
  const { login, makersLogin, name } = drivers.find(({ id }) => id === driver) ?? {};
  const { credentials } = registry.entry(added.id).rig.declared;
  if (login === undefined || hasLogin(credentials) || (settings.poll.makersLogins && makersLogin !== undefined))
    return added;
  const { metaData } = added;
  const advice = `No login was given for this ${name}; with its ${login.keys.join(" and ")} it can be ${login.adds}`;
  return { ...added, metaData: { ...metaData, warningList: [...metaData.warningList, advice] } };
}
