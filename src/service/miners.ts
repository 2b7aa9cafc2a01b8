import { invalid, RigbridgeError } from "../contract/problems.ts";
import type { MetaData, MinerList } from "../contract/resources.ts";
import type { Caller, Encoded, Input, MiningService } from "../contract/service.ts";
import { formatAddress, isSameAddress, parseAddress, storedAddress } from "../link/address.ts";
import { drivers } from "../link/drivers/index.ts";
import type { Store, StoredMiner } from "../store/index.ts";
import type { Format } from "../units/format.ts";
import type { Access, AccessBook } from "./access.ts";
import { seenSections } from "./groups.ts";
import { checkOwner, checkPlug, type PlugContext } from "./plug-owners.ts";
import type { PoolBook } from "./pool-book.ts";
import { done } from "./replies.ts";
import type { Roster } from "./roster.ts";
import { findOwn, present } from "./stored.ts";
import { type Remarked, type Totals, totalsOf } from "./summary.ts";
import type { GroupSection } from "./views.ts";

type MinerOperations = Pick<
  MiningService,
  "listMiners" | "getMiner" | "listAddPools" | "getMinerPool" | "addMiner" | "changeMiner" | "deleteMiner" | "pollMiner"
>;

export interface MinerContext extends PlugContext {
  readonly book: PoolBook;
  readonly access: AccessBook;
  readonly format: Format;
  readonly metaData: (remarked: Remarked) => MetaData;
  readonly totals: (access: Access) => Totals;
  /** The first real miner has come, and the demo miners have left. */
  readonly demoLeft: () => void;
}

/** Miners: what there are, and which are added, changed and removed. */
export function minerOperations(context: MinerContext): MinerOperations {
  const { roster, store, book, access, metaData, totals } = context;
  const detail = (id: number) => {
    const { miner, figures } = roster.present(id);
    return { ...miner, metaData: metaData(totalsOf([figures])) };
  };
  return {
    listMiners: async (_input, caller) => {
      const eyes = access.of(caller);
      const groupList = groupsOf(roster, seenSections(roster.sections(), eyes));
      return { ...listHead(context, eyes), groupList, metaData: metaData(totals(eyes)) };
    },
    getMiner: async ({ id }, caller) => {
      roster.entryFor(id, access.of(caller));
      return detail(id);
    },
    listAddPools: async ({ id }, caller) => {
      const eyes = access.of(caller);
      roster.entryFor(id, eyes);
      return { addPoolList: book.addList(eyes) };
    },
    getMinerPool: async ({ id, poolId }, caller) => {
      roster.entryFor(id, access.of(caller));
      return roster.shownPool(id, poolId);
    },
    addMiner: async ({ address, ...body }, caller) => {
      const eyes = access.of(caller);
      const row = { ...blank, ...rowOf(body, context, eyes), address: canonical(address) };
      refuseGroup(row.groupId, eyes);
      checkAddress(roster, row.address, null, eyes);
      if (row.supply !== null) checkOwner(row.supply, null, context, eyes);
      const added = await store.miners.add(row);
      const isFirst = roster.isDemoOnly;
      roster.put(added);
      roster.arrange();
      if (isFirst) {
        await roster.removeDemos();
        context.demoLeft();
      }
      const { metaData: about, ...miner } = detail(added.id);
      const info = `${miner.name} is being recognised: what it is and reports follows`;
      return { ...miner, metaData: { ...about, infoList: [...about.infoList, info] } };
    },
    changeMiner: async ({ id, address, ...body }, caller) => {
      const eyes = access.of(caller);
      roster.entryFor(id, eyes);
      refuseDemo(roster, id);
      const known = findOwn(store.miners, id, "miner");
      const change = {
        ...(address === undefined ? {} : movedTo(address, known.address)),
        ...rowOf(body, context, eyes),
      };
      if (change.groupId !== undefined) refuseGroup(change.groupId, eyes);
      if (change.address !== undefined) checkAddress(roster, change.address, id, eyes);
      if (change.supply) checkOwner(change.supply, id, context, eyes);
      roster.put(await store.miners.change(id, change));
      roster.arrange();
      return detail(id);
    },
    deleteMiner: async ({ id }, caller) => {
      const { facts } = roster.entryFor(id, access.of(caller));
      refuseDemo(roster, id);
      findOwn(store.miners, id, "miner");
      await store.miners.remove(id);
      await roster.remove(id);
      return done(`${facts.name} removed with its history`);
    },
    pollMiner: async ({ id }, caller) => {
      const { rig } = roster.steeredFor(id, access.of(caller));
      if (rig.declared.disabled) throw new RigbridgeError("not.possible", "This miner is disabled");
      await roster.fleet.poll(rig);
      roster.entryFor(id, access.of(caller));
      return detail(id);
    },
  };
}

/** GET /api/miners and GET /api/miners/{id} from bytes that are there already. */
export function encodedMiners(context: MinerContext) {
  const { roster, access, metaData, totals } = context;
  const tail = (remarked: Remarked): string => `"metaData":${JSON.stringify(metaData(remarked))}`;
  return {
    list: (caller: Caller): Encoded => {
      const eyes = access.of(caller);
      const head = JSON.stringify(listHead(context, eyes)).slice(1, -1);
      return roster.views.list(head, tail(totals(eyes)), eyes);
    },
    one: (id: number, caller: Caller): Encoded | undefined =>
      roster.seen(id, access.of(caller)) === undefined
        ? undefined
        : roster.views.one(id, (figures) => tail(totalsOf([figures]))),
  };
}

function listHead({ store, format, totals }: MinerContext, access: Access): Omit<MinerList, "groupList" | "metaData"> {
  const manualActionList = present(store.rules).map(({ id, name }) => ({ id, name }));
  return {
    totalHashrate5s: format.hashrate(totals(access).hashrate),
    hasManualAction: manualActionList.length > 0,
    canManualAction: false,
    hasPoolOperations: true,
    manualActionList,
  };
}

const groupsOf = (roster: Roster, sections: readonly GroupSection[]): MinerList["groupList"] =>
  sections.map(({ id, name, minerIds, groups }) => ({
    id,
    name,
    minerList: minerIds.map((minerId) => roster.present(minerId).miner),
    ...(groups.length > 0 ? { groupList: groupsOf(roster, groups) } : {}),
  }));

const blank: Omit<StoredMiner, "address"> = {
  name: null,
  uid: null,
  driver: null,
  groupId: 0,
  username: null,
  password: null,
  token: null,
  interval: null,
  location: { site: null, container: null, rack: null, slot: null },
  tags: [],
  offlineExpected: false,
  powerNameplate: null,
  supply: null,
  power: {},
};

const canonical = (address: string): string => formatAddress(parseAddress(address));

/** What opens the rig at the old address is not for whatever answers at the new one. */
function movedTo(address: string, before: string): Partial<StoredMiner> {
  const moves = !isSameAddress(parseAddress(address), storedAddress(before));
  return { address: canonical(address), ...(moves ? { username: null, password: null, token: null } : {}) };
}

/** The fields of a row that a body names. Throws `input.invalid`, `not.yet`. */
function rowOf(
  body: Omit<Input<"changeMiner">, "id" | "address">,
  context: MinerContext,
  access: Access,
): Partial<StoredMiner> {
  const { group, supply, driver, name, username, password, token, interval, location, tags, offlineExpected } = body;
  if (supply) checkPlug(supply, context);
  if (driver !== undefined && !drivers.some(({ id }) => id === driver)) {
    throw invalid("driver", `must be one of ${drivers.map(({ id }) => id).join(", ")}`);
  }
  return {
    ...(group === undefined ? {} : { groupId: groupIdOf(group, context.store, access) }),
    ...(driver === undefined ? {} : { driver }),
    ...(name === undefined ? {} : { name }),
    ...(username === undefined ? {} : { username }),
    ...(password === undefined ? {} : { password }),
    ...(token === undefined ? {} : { token }),
    ...(interval === undefined ? {} : { interval }),
    ...(location === undefined ? {} : { location }),
    ...(tags === undefined ? {} : { tags: [...tags] }),
    ...(offlineExpected === undefined ? {} : { offlineExpected }),
    ...(supply === undefined ? {} : { supply }),
  };
}

/** A group that these eyes do not see is none. */
function groupIdOf(group: string | number, store: Store, access: Access): number {
  if (group === 0) return 0;
  const found = present(store.groups).filter(
    ({ id, name }) => (id === group || name === group) && access.seesGroup(id),
  );
  const [first] = found;
  if (first === undefined) throw invalid("group", `there is no group ${group}`);
  if (found.length > 1) throw invalid("group", `there are ${found.length} groups named ${group}; give the id`);
  return first.id;
}

/** A miner in no group would be out of sight of who put it there. */
function refuseGroup(groupId: number, access: Access): void {
  if (!access.seesGroup(groupId))
    throw new RigbridgeError("user.forbidden", "This user's miners stand in the groups that the user sees; name one");
}

/** Throws `address.known`, naming the miner that has it only to who sees all. */
function checkAddress(roster: Roster, address: string, id: number | null, access: Access): void {
  try {
    roster.checkAddress(address, id);
  } catch (error) {
    if (access.all || !(error instanceof RigbridgeError)) throw error;
    throw new RigbridgeError(error.code, `${address} is another miner already`);
  }
}

function refuseDemo(roster: Roster, id: number): void {
  if (roster.isDemo(id)) throw new RigbridgeError("not.possible", "A demo miner cannot be changed or removed");
}
