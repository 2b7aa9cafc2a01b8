import { invalid, notYet, RigbridgeError } from "../contract/problems.ts";
import type { MetaData, MinerList } from "../contract/resources.ts";
import type { Encoded, Input, MiningService } from "../contract/service.ts";
import { formatAddress, parseAddress } from "../link/address.ts";
import { drivers } from "../link/drivers/index.ts";
import type { Store, StoredMiner } from "../store/index.ts";
import type { Format } from "../units/format.ts";
import type { PoolBook } from "./pool-book.ts";
import { done } from "./replies.ts";
import type { Roster } from "./roster.ts";
import { findOwn, present } from "./stored.ts";
import type { Totals } from "./summary.ts";
import type { GroupSection } from "./views.ts";

type MinerOperations = Pick<
  MiningService,
  "listMiners" | "getMiner" | "listAddPools" | "getMinerPool" | "addMiner" | "changeMiner" | "deleteMiner" | "pollMiner"
>;

export interface MinerContext {
  readonly roster: Roster;
  readonly store: Store;
  readonly book: PoolBook;
  readonly format: Format;
  readonly metaData: () => MetaData;
  readonly totals: () => Totals;
}

/** Miners: what there are, and which are added, changed and removed. */
export function minerOperations(context: MinerContext): MinerOperations {
  const { roster, store, book, metaData } = context;
  const detail = (id: number) => ({ ...roster.present(id).miner, metaData: metaData() });
  return {
    listMiners: async () => {
      const { manualActionList, ...head } = listHead(context);
      return { ...head, manualActionList, groupList: groupsOf(roster, roster.sections()), metaData: metaData() };
    },
    getMiner: async ({ id }) => detail(id),
    listAddPools: async ({ id }) => {
      roster.entry(id);
      return { addPoolList: book.addList() };
    },
    getMinerPool: async ({ id, poolId }) => roster.shownPool(id, poolId),
    addMiner: async ({ address, ...body }) => {
      const row = { ...blank, ...rowOf(body, store), address: canonical(address) };
      roster.checkAddress(row.address, null);
      const added = await store.miners.add(row);
      roster.put(added);
      roster.arrange();
      return detail(added.id);
    },
    changeMiner: async ({ id, address, ...body }) => {
      roster.entry(id);
      refuseDemo(roster, id);
      findOwn(store.miners, id, "miner");
      const change = { ...rowOf(body, store), ...(address === undefined ? {} : { address: canonical(address) }) };
      if (change.address !== undefined) roster.checkAddress(change.address, id);
      roster.put(await store.miners.change(id, change));
      roster.arrange();
      return detail(id);
    },
    deleteMiner: async ({ id }) => {
      const { facts } = roster.entry(id);
      refuseDemo(roster, id);
      findOwn(store.miners, id, "miner");
      await store.miners.remove(id);
      await roster.remove(id);
      return done(`${facts.name} removed with its history`);
    },
    pollMiner: async ({ id }) => {
      const { rig } = roster.entry(id);
      if (rig.declared.disabled) throw new RigbridgeError("not.possible", "This miner is disabled");
      await roster.fleet.poll(rig);
      return detail(id);
    },
  };
}

/** GET /api/miners and GET /api/miners/{id} from bytes that are there already. */
export function encodedMiners(context: MinerContext) {
  const { roster, metaData } = context;
  return {
    list: (): Encoded => {
      const head = JSON.stringify(listHead(context)).slice(1, -1);
      return roster.views.list(head, `"metaData":${JSON.stringify(metaData())}`);
    },
    one: (id: number): Encoded | undefined => roster.views.one(id, `"metaData":${JSON.stringify(metaData())}`),
  };
}

function listHead({ store, format, totals }: MinerContext): Omit<MinerList, "groupList" | "metaData"> {
  const manualActionList = present(store.rules).map(({ id, name }) => ({ id, name }));
  return {
    totalHashrate5s: format.hashrate(totals().hashrate),
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
};

const canonical = (address: string): string => formatAddress(parseAddress(address));

/** The fields of a row that a body names. Throws `input.invalid`, `not.yet`. */
function rowOf(body: Omit<Input<"changeMiner">, "id" | "address">, store: Store): Partial<StoredMiner> {
  const { group, supply, driver, name, username, password, token, interval, location, tags, offlineExpected } = body;
  if (supply !== undefined) throw notYet("supply, the rig's plug and meter,");
  if (driver !== undefined && !drivers.some(({ id }) => id === driver)) {
    throw invalid("driver", `must be one of ${drivers.map(({ id }) => id).join(", ")}`);
  }
  return {
    ...(group === undefined ? {} : { groupId: groupIdOf(group, store) }),
    ...(driver === undefined ? {} : { driver }),
    ...(name === undefined ? {} : { name }),
    ...(username === undefined ? {} : { username }),
    ...(password === undefined ? {} : { password }),
    ...(token === undefined ? {} : { token }),
    ...(interval === undefined ? {} : { interval }),
    ...(location === undefined ? {} : { location }),
    ...(tags === undefined ? {} : { tags: [...tags] }),
    ...(offlineExpected === undefined ? {} : { offlineExpected }),
  };
}

function groupIdOf(group: string | number, store: Store): number {
  if (group === 0) return 0;
  const found = present(store.groups).filter(({ id, name }) => id === group || name === group);
  const [first] = found;
  if (first === undefined) throw invalid("group", `there is no group ${group}`);
  if (found.length > 1) throw invalid("group", `there are ${found.length} groups named ${group}; give the id`);
  return first.id;
}

function refuseDemo(roster: Roster, id: number): void {
  if (roster.isDemo(id)) throw new RigbridgeError("not.possible", "A demo miner cannot be changed or removed");
}
