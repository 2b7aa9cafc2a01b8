import { createHash } from "node:crypto";
import { hostname } from "node:os";
import type { Config, GroupSettings, MinerSettings } from "../config/schema.ts";
import { noTemplateProgram } from "../contract/templates.ts";
import { formatAddress, isSameAddress, parseAddress, storedAddress } from "../link/address.ts";
import type { Store, Stored, StoredGroup, StoredHost, StoredMiner } from "../store/index.ts";
import { ruleRow } from "./automation/rule-rows.ts";
import { given } from "./crud.ts";
import { uidFor } from "./hosts/uids.ts";
import { blankMiner } from "./miners/declared-miner.ts";
import type { Coins } from "./money/coins.ts";
import { walkGroups } from "./nested-groups.ts";
import type { PlaceBook } from "./places/place-book.ts";
import { Placing } from "./places/placing.ts";
import type { LiveList } from "./settings/live-settings.ts";

/**
 * Brings the store in line with the lists of the configuration file: rows keep their ids, removed ones are disabled, and
 * those created over the API stay untouched.
 */
export async function declareLists(
  config: Pick<Config, LiveList>,
  store: Store,
  coins: Coins,
  places: PlaceBook,
): Promise<void> {
  const groups = await declareGroups(config.groups, store);
  await declareMiners(config.miners, store, groups, places);
  const pools = await store.pools.declare(
    new Map(
      config.pools.map((pool) => {
        const coin = coins.coin(pool.coin);
        const row = {
          description: pool.name,
          coinClass: coin?.coinClass ?? (pool.coin === "" ? "PreDefined" : "UserDefined"),
          coinShortName: coin?.shortName ?? pool.coin,
          coinAlgorithm: pool.algorithm || (coin?.algorithm ?? ""),
          url: pool.url,
          workerName: pool.worker,
          walletAddress: pool.wallet,
          plainWorkerPassword: pool.password,
          ...(pool.runsAt === undefined ? {} : { runsAt: pool.runsAt }),
        };
        return [pool.name, row] as const;
      }),
    ),
  );
  const poolIds = (names: readonly string[]): number[] => idsOf(names, pools);
  await store.poolGroups.declare(
    new Map(
      config.poolGroups.map(({ name, pools: names, ...others }) => [name, { name, pools: poolIds(names), ...others }]),
    ),
  );
  await store.templates.declare(
    new Map(
      config.templates.map(({ name, do: steps = null, ...others }) => [
        name,
        { name, do: steps, ...noTemplateProgram, ...given(others), makerId: null },
      ]),
    ),
  );
  await store.rules.declare(
    new Map(
      config.rules.map((settings) => [settings.key ?? settings.name ?? settings.use ?? "", ruleRow(settings, null)]),
    ),
  );
  await store.schedules.declare(
    new Map(
      config.schedules.map((settings) => [
        settings.key,
        { name: settings.name ?? settings.key, makerId: null, definition: { ...settings } },
      ]),
    ),
  );
  await store.maintenance.declare(
    new Map(
      config.maintenance.map((settings) => [
        settings.name,
        { name: settings.name, makerId: null, definition: { ...settings } },
      ]),
    ),
  );
  // Their settings hold secrets, and stay in the file.
  await store.channels.declare(new Map(config.channels.map(({ key }) => [key, { name: key, definition: null }])));
  await store.users.declare(
    new Map(
      config.users.map(({ name, key, privilege, groups: seen, pools: seenPools, centre }) => [
        name,
        {
          name,
          keyHash: key === undefined ? null : createHash("sha256").update(key).digest("hex"),
          privilege,
          groups: seen === undefined ? null : idsOf(seen, byName(groups)),
          pools: seenPools === undefined ? null : poolIds(seenPools),
          centre,
        },
      ]),
    ),
  );
}

/** Brings the store in line with the whole configuration. */
export async function declareAll(config: Config, store: Store, coins: Coins, places: PlaceBook): Promise<void> {
  await declareLists(config, store, coins, places);
  await declareOwnHost(config, store);
}

const ownHost = "own machine";

/** The service's own machine, if managed miners may run there. */
export async function declareOwnHost(
  { agent }: Pick<Config, "agent">,
  { hosts, groups }: Pick<Store, "hosts" | "groups">,
): Promise<void> {
  const known = hosts.all().find(({ key }) => key === ownHost);
  const row: StoredHost = {
    description: "The service's own machine",
    hostname: hostname(),
    uid: known?.uid ?? uidFor(hostname(), hosts),
    groupId:
      groups.all().find(({ name, owner, disabled }) => name === agent.group && owner === "file" && !disabled)?.id ?? 0,
    gpus: known?.gpus ?? null,
  };
  await hosts.declare(new Map(agent.enabled ? [[ownHost, row]] : []));
}

/** Coins come before the pools that name them. A coin without a profit in the file keeps the one set over the API. */
export async function declareCoins(config: Pick<Config, "coins">, store: Store): Promise<void> {
  const stored = new Map(store.coins.all().map((coin) => [coin.key, coin]));
  await store.coins.declare(
    new Map(
      config.coins.map(({ shortName, name, algorithm, profit }) => {
        const key = shortName.toUpperCase();
        const { profit: set = null, profitUsd = null, updated = null } = stored.get(key) ?? {};
        const worth = profit === undefined ? { profit: set, profitUsd, updated } : { profit, ...ofFile };
        return [key, { shortName, name, algorithm, coinClass: "UserDefined", ...worth }];
      }),
    ),
  );
}

const ofFile = { profitUsd: null, updated: null };

type Rows<T> = ReadonlyMap<string, Stored<T>>;

const idsOf = (names: readonly string[], rows: Rows<unknown>): number[] =>
  names.flatMap((name) => rows.get(name)?.id ?? []);

const byName = (groups: Rows<StoredGroup>): Rows<StoredGroup> =>
  new Map([...groups.values()].map((group) => [group.name, group]));

/** Keys are the paths of names. Parents are set in a second pass, because a parent has an id only once it is stored. */
async function declareGroups(settings: readonly GroupSettings[], store: Store): Promise<Rows<StoredGroup>> {
  const flat = Array.from(walkGroups(settings), ({ group, above }) => ({
    path: [...above, group].map(({ name }) => name),
    name: group.name,
    ...roomOf(group),
  }));
  const values = new Map(flat.map(({ path, ...group }) => [keyOf(path), { ...group, parentId: 0 }]));
  let rows = await store.groups.declare(values);
  if (flat.some(({ path }) => path.length > 1)) {
    const placed = flat.map(({ path, ...group }) => {
      const parentId = rows.get(keyOf(path.slice(0, -1)))?.id ?? 0;
      return [keyOf(path), { ...group, parentId }] as const;
    });
    rows = await store.groups.declare(new Map(placed));
  }
  return rows;
}

const roomOf = ({ room }: GroupSettings): Pick<StoredGroup, "room" | "max"> =>
  typeof room === "object" ? { room: true, ...given({ max: room.max }) } : { room };

const keyOf = (path: readonly string[]): string => JSON.stringify(path);

/** A rig at a changed address is identified before a login is sent. */
async function declareMiners(
  settings: readonly MinerSettings[],
  store: Store,
  groups: Rows<StoredGroup>,
  places: PlaceBook,
): Promise<void> {
  const before = new Map(store.miners.all().map(({ id, address }) => [id, address]));
  const placing = new Placing(places, store);
  const rows = minerRows(settings, store.miners.all(), groups, placing);
  if (placing.added.length > 0) await store.places.addAndChange(placing.added, new Map());
  for (const { id, address } of (await store.miners.declare(rows)).values()) {
    const old = before.get(id);
    if (old !== undefined && old !== address && !isSameAddress(storedAddress(old), storedAddress(address)))
      await store.memory.remember(id, { driver: null });
  }
}

/** A miner keeps its row by its address or, if that has changed, by its uid or name in the file. */
function minerRows(
  settings: readonly MinerSettings[],
  stored: readonly Stored<StoredMiner>[],
  groups: Rows<StoredGroup>,
  placing: Placing,
): Map<string, StoredMiner> {
  const groupIds = byName(groups);
  const declared = settings.map((miner) => ({ miner, address: formatAddress(parseAddress(miner.address)) }));
  const addresses = new Set(declared.map(({ address }) => address));
  const fromFile = stored.filter(({ owner }) => owner === "file");
  const byAddress = new Map(fromFile.map((row) => [row.address, row]));
  const moved = fromFile.filter(({ address }) => !addresses.has(address));
  const keys = new Set(fromFile.map(({ key }) => key));
  const found = new Set<Stored<StoredMiner>>();
  return new Map(
    declared.map(({ miner, address }) => {
      const row =
        byAddress.get(address) ??
        moved.find(
          (each) =>
            !found.has(each) &&
            ((miner.uid !== undefined && each.uid === miner.uid) ||
              (miner.name !== undefined && each.name === miner.name)),
        );
      if (row !== undefined) found.add(row);
      // The tariff may hold a token, and stays in the file.
      const { group, electricity: _, location, ...fields } = miner;
      const groupId = group === undefined ? 0 : (groupIds.get(group)?.id ?? 0);
      const placement = location === undefined ? {} : placing.placed(location, row ?? null, true);
      const value: StoredMiner = { ...blankMiner, ...given(fields), ...placement, address, groupId };
      return [row?.key ?? freeKey(address, keys), value];
    }),
  );
}

/** A miner that moved away keeps its key, so a new miner at its old address needs another. */
function freeKey(address: string, taken: ReadonlySet<string | null>): string {
  let key = address;
  for (let next = 2; taken.has(key); next += 1) key = `${address} (${next})`;
  return key;
}
