import { randomBytes } from "node:crypto";
import { rmSync } from "node:fs";
import { join } from "node:path";
import type { z } from "zod";
import { Mutex } from "../async/index.ts";
import type { SessionLog } from "../contract/session.ts";
import type { StoreWaiting } from "../contract/store-waiting.ts";
import { type ActivePools, activePoolRows, openActivePools } from "./active-pools.ts";
import { keepBeforeUpgrade } from "./backup.ts";
import { type Collection, type CollectionRows, collectionRows, openCollection, type Prepared } from "./collection.ts";
import { type CommandLog, openCommands } from "./commands.ts";
import { type CurtailmentLog, openCurtailments } from "./curtailments.ts";
import type { Database } from "./database.ts";
import { type DiskReserve, noReserve, openReserve, releaseReserve } from "./disk-reserve.ts";
import { isFull, openingFailure } from "./failures.ts";
import { type FarmSamples, farmHashrateRows, farmSampleRows, openFarmSamples } from "./farm-samples.ts";
import { createPrivate, inspect, locate, mark } from "./file.ts";
import { type GroupEnergies, openGroupEnergies } from "./group-energies.ts";
import { type IdempotencyLog, openIdempotency } from "./idempotency.ts";
import { type KeptValues, openKeptValues } from "./kept-values.ts";
import type { Lease, LeaseOptions } from "./lease.ts";
import { type Lock, lock } from "./lock.ts";
import { migrate, storeVersion } from "./migrations.ts";
import { type MoneyDays, openMoneyDays } from "./money-days.ts";
import { type NotificationLog, openNotifications } from "./notifications.ts";
import { type PostgresStoreOptions, takePostgres } from "./open-postgres.ts";
import { type OutboxLog, openOutbox } from "./outbox.ts";
import { openPowerMemories, type PowerMemories } from "./power-memories.ts";
import {
  StoredAgent,
  StoredBenchmark,
  StoredCentre,
  StoredChannel,
  StoredCoin,
  StoredCurtailmentPlan,
  StoredDownload,
  StoredFollowLimit,
  StoredGroup,
  StoredHeating,
  StoredHost,
  StoredLostCommand,
  StoredMaintenance,
  StoredManagedMiner,
  StoredMiner,
  StoredPlace,
  StoredPool,
  StoredPoolGroup,
  StoredRepair,
  StoredRoomMaximum,
  StoredRule,
  StoredSchedule,
  StoredSection,
  StoredSite,
  StoredSiteJob,
  StoredTemplate,
  StoredUser,
} from "./resources.ts";
import { openRigMemories, type RigMemories, rigMemoryRows } from "./rig-memories.ts";
import { openRuleLog, type RuleLog } from "./rule-log.ts";
import { openRunMark } from "./run-mark.ts";
import { openRuns, type RunLog } from "./runs.ts";
import { openSamples, recentRows, type Samples } from "./samples.ts";
import { openSessions } from "./sessions.ts";
import { type ConnectionOptions, SqliteConnection } from "./sqlite-connection.ts";
import { WaitingCommands } from "./waiting-commands.ts";
import { patient, type WaitingOptions, WaitingRows } from "./waiting-rows.ts";

export type { ActivePools } from "./active-pools.ts";
export type { Changes, Collection, Prepared, Stored } from "./collection.ts";
export type { CommandLog } from "./commands.ts";
export type {
  CurtailmentChanges,
  CurtailmentLog,
  MeasuredEnergy,
  StoredCurtailedRig,
  StoredCurtailment,
  StoredCurtailmentSample,
  StoredMeter,
} from "./curtailments.ts";
export type { WantedCommands } from "./database.ts";
export {
  type FarmMoment,
  type FarmSample,
  type FarmSamples,
  type FarmStep,
  farmFigures,
  farmSpans,
} from "./farm-samples.ts";
export { allMiners, type GroupEnergies } from "./group-energies.ts";
export type { IdempotencyLog, KeyedRequest, RequestKey } from "./idempotency.ts";
export { type KeptValues, mqttUnits } from "./kept-values.ts";
export type { Holder, Lease } from "./lease.ts";
export type { MoneyDays, MoneyKey, MoneyRow, MoneySubject, MoneySums } from "./money-days.ts";
export type { NotificationLog } from "./notifications.ts";
export type { OutboxLog } from "./outbox.ts";
export { type Sample, type TakeSample, takeSample } from "./packed-samples.ts";
export type { PowerMemories, PowerMemory } from "./power-memories.ts";
export type * from "./resources.ts";
export type { Layout, RigMemories, RigMemory } from "./rig-memories.ts";
export type { RuleLog, StoredRuleState, StoredTrace, TraceFilter } from "./rule-log.ts";
export {
  type NewRun,
  noCommand,
  type RunLog,
  type RunResult,
  type RunTurn,
  type StepResult,
  type StoredRun,
} from "./runs.ts";
export type { Samples } from "./samples.ts";

/** Everything that outlives the process. Ids are integers that are never reused; times are epoch ms. */
export interface Store {
  readonly miners: Collection<StoredMiner>;
  readonly groups: Collection<StoredGroup>;
  readonly places: Collection<StoredPlace>;
  readonly pools: Collection<StoredPool>;
  readonly poolGroups: Collection<StoredPoolGroup>;
  readonly hosts: Collection<StoredHost>;
  readonly managedMiners: Collection<StoredManagedMiner>;
  readonly agents: Collection<StoredAgent>;
  readonly downloads: Collection<StoredDownload>;
  readonly templates: Collection<StoredTemplate>;
  readonly rules: Collection<StoredRule>;
  readonly schedules: Collection<StoredSchedule>;
  readonly maintenance: Collection<StoredMaintenance>;
  readonly curtailmentPlans: Collection<StoredCurtailmentPlan>;
  readonly channels: Collection<StoredChannel>;
  readonly coins: Collection<StoredCoin>;
  readonly users: Collection<StoredUser>;
  readonly heatings: Collection<StoredHeating>;
  readonly roomMaxima: Collection<StoredRoomMaximum>;
  readonly followLimits: Collection<StoredFollowLimit>;
  readonly repairs: Collection<StoredRepair>;
  readonly benchmarks: Collection<StoredBenchmark>;
  readonly settings: Collection<StoredSection>;
  /** The sites by name, which is their key; their ids are their numbers, and are never used again. */
  readonly sites: Collection<StoredSite>;
  readonly siteJobs: Collection<StoredSiteJob>;
  readonly lostCommands: Collection<StoredLostCommand>;
  /** The centres that define something here. */
  readonly centres: Collection<StoredCentre>;
  /** Writes prepared changes of several collections in one transaction. Throws store.full. */
  commit(changes: readonly Prepared[]): Promise<void>;
  /** Its name, which stays as long as the store, also in its backups. */
  readonly instance: string;
  /** What this service shares the store by; null: it has it alone. */
  readonly lease: Lease | null;
  readonly notifications: NotificationLog;
  readonly outbox: OutboxLog;
  readonly commands: CommandLog;
  readonly idempotency: IdempotencyLog;
  readonly runs: RunLog;
  readonly activePools: ActivePools;
  readonly memory: RigMemories;
  readonly groupEnergies: GroupEnergies;
  readonly power: PowerMemories;
  readonly samples: Samples;
  readonly farmSamples: FarmSamples;
  readonly ruleLog: RuleLog;
  readonly curtailments: CurtailmentLog;
  readonly keptValues: KeptValues;
  readonly moneyDays: MoneyDays;
  readonly sessions: SessionLog;
  /** The samples that wait for a database that is away; null: they wait in memory. */
  waiting(): StoreWaiting | null;
  /** Writes what could not be written before, for example while the disk was full. Throws store.full. */
  flush(): Promise<void>;
  close(): Promise<void>;
}

export interface StoreOptions {
  /** The SQLite file, or ":memory:" for one that ends with the process. */
  readonly file: string;
  /** The first id of everything is higher; by default as the API document has it. */
  readonly idsAfter?: number;
  readonly now: () => number;
  /** Called before a store of an earlier version is upgraded, with its copy; null if the disk has no room for one. */
  readonly upgrading?: (copy: string | null) => void;
}

/** Ids of external miners start at 1000000001 (2.2 of the API document). */
const beforeMiners = 1_000_000_000;
/** Managed miners share the ids of miners, so with `idsAfter` they start this much higher. */
const managedApart = 50_000_000;

/**
 * Opens the store, or creates it. Throws store.refused, having changed nothing, if the file is not a store, is of a newer
 * version, damaged, inaccessible, or in use by another service.
 */
export const openStore = async ({ file, now, idsAfter = 0, upgrading }: StoreOptions): Promise<Store> => {
  if (file === ":memory:") return build(":memory:", now, { release: () => undefined }, noReserve, idsAfter);
  const path = locate(file);
  try {
    return await openFile(path, now, false, upgrading);
  } catch (error) {
    if (!isFull(error) || !releaseReserve(path)) throw openingFailure(path, error);
  }
  return openFile(path, now, true, upgrading).catch((error: unknown) => {
    throw openingFailure(path, error);
  });
};

/** `reserveReleased`: the disk is full, and the reserve was released to open the store. */
const openFile = async (
  path: string,
  now: () => number,
  reserveReleased: boolean,
  upgrading: StoreOptions["upgrading"],
): Promise<Store> => {
  const storeLock = lock(path);
  let version = 0;
  let copy: string | null = null;
  try {
    version = inspect(path);
    createPrivate(path);
    if (version > 0 && version < storeVersion) {
      copy = keepBeforeUpgrade(path, version);
      upgrading?.(copy);
    }
    mark(path);
    return await build(path, now, storeLock, openReserve(path, reserveReleased));
  } catch (error) {
    storeLock.release();
    // Not upgraded, so that the copy is the same as the store.
    if (copy !== null && inspect(path) === version) rmSync(copy, { force: true });
    throw error;
  }
};

/**
 * Data that a user declares or adds is written on a connection that survives a power failure; frequent records of the
 * service are written on a faster one that survives a crash of the process. They share no table, so in memory each has
 * its own database.
 */
const build = async (
  path: string,
  now: () => number,
  storeLock: Lock,
  reserve: DiskReserve,
  idsAfter = 0,
): Promise<Store> => {
  const opened: SqliteConnection[] = [];
  const connect = (options: Pick<ConnectionOptions, "durability" | "busyTimeoutMs">): SqliteConnection => {
    const connection = new SqliteConnection(path, { ...options, reserve });
    opened.push(connection);
    return connection;
  };
  const close = () => {
    for (const connection of opened.toReversed()) connection.close();
    storeLock.release();
  };
  try {
    const durable = connect({ durability: "full", busyTimeoutMs: 2_000 });
    const fast = connect({ durability: "normal", busyTimeoutMs: 100 });
    if (path === ":memory:") for (const connection of opened) await fillEmpty(connection);
    else await migrate(durable.tables);
    for (const connection of [durable, fast]) connection.startIdsAfter(idsAfter);
    const markFile = path === ":memory:" ? null : `${path}.run`;
    return await assemble({
      durable,
      fast,
      waiting: null,
      unsaved: null,
      markFile,
      lease: null,
      standby: null,
      now,
      close,
      idsAfter,
    });
  } catch (error) {
    close();
    throw error;
  }
};

/** An empty store of this version, once one has been made in memory: to copy it takes a tenth of all upgrades. */
let emptyStore: Uint8Array | null = null;

const fillEmpty = async (connection: SqliteConnection): Promise<void> => {
  if (emptyStore === null) {
    await migrate(connection.tables);
    emptyStore = connection.image();
  } else {
    connection.become(emptyStore);
    await connection.tables
      .updateTable("instance")
      .set({ name: randomBytes(16).toString("hex") })
      .execute();
  }
};

interface SharedStoreOptions extends PostgresStoreOptions, LeaseOptions {
  /** Where samples and commands for safety wait while the database is away; absent: in memory. */
  readonly beside?: WaitingOptions;
}

/** Tables of which a row is the same whenever it is written. */
const timed = [recentRows, farmSampleRows, farmHashrateRows].map((rowsOf) => rowsOf([]).upsert);

/** Null: the folder cannot be used, which must not end the only service that has the lease. */
const waitingIn = async (beside: WaitingOptions): Promise<WaitingRows | null> => {
  try {
    return await WaitingRows.open(beside, timed);
  } catch (error) {
    const why = error instanceof Error && "code" in error ? String(error.code) : "unknown reason";
    beside.log.warn(`Samples wait in memory only while the database is away: ${beside.folder} cannot be used (${why})`);
    return null;
  }
};

/**
 * Opens a store in a PostgreSQL database, or creates it there, once no other service has its lease. Throws store.refused,
 * with what to change.
 */
export const openPostgresStore = async ({ beside, ...options }: SharedStoreOptions): Promise<Store> => {
  const standby = standbyTables();
  const { memory, ...others } = standby;
  const { database, lease } = await takePostgres(options, [...Object.values(others), ...Object.values(memory)]);
  const close = async (): Promise<void> => {
    await database.close();
    await lease.release();
  };
  try {
    // What waits names its store: another one that is opened beside the same files has other miners of the same ids.
    const instance = await instanceOf(database);
    return await assemble({
      durable: database,
      fast: database,
      waiting: beside === undefined ? null : await waitingIn({ ...beside, folder: join(beside.folder, instance) }),
      unsaved: beside === undefined ? null : new WaitingCommands(`${beside.commands}-${instance}`, beside.log),
      markFile: null,
      lease,
      standby,
      now: options.now,
      close,
      idsAfter: 0,
    });
  } catch (error) {
    await close();
    throw error;
  }
};

/** What grows with the rigs, and so takes the time of a start: a service that waits has it in memory. */
const standbyTables = () => ({
  miners: collectionRows(miners),
  managedMiners: collectionRows(managedMiners),
  activePools: activePoolRows(),
  memory: rigMemoryRows(),
});

const miners = { name: "miner", schema: StoredMiner };
const managedMiners = { name: "managed miner", schema: StoredManagedMiner };

const instanceOf = async ({ tables }: Database): Promise<string> =>
  (await tables.selectFrom("instance").select("name").executeTakeFirstOrThrow()).name;

interface Parts {
  readonly durable: Database;
  readonly fast: Database;
  /** For samples while the database is away. */
  readonly waiting: WaitingRows | null;
  /** For commands for safety while the database is away. */
  readonly unsaved: WaitingCommands | null;
  /** See `RunMark`. */
  readonly markFile: string | null;
  /** Null: a store that no other service shares. */
  readonly lease: Lease | null;
  /** What was read before; null: nothing. */
  readonly standby: ReturnType<typeof standbyTables> | null;
  readonly now: () => number;
  readonly close: () => void | Promise<void>;
  readonly idsAfter: number;
}

const assemble = async ({
  durable,
  fast,
  waiting,
  unsaved,
  markFile,
  lease,
  standby,
  now,
  close,
  idsAfter,
}: Parts): Promise<Store> => {
  const turns = new Mutex();
  const collection = <T extends object>(name: string, schema: z.ZodType<T>, after = 0, rows?: CollectionRows<T>) =>
    openCollection(durable, turns, { name, schema, after: Math.max(after, idsAfter) }, rows);
  // First, so that an invalid row is refused before anything is changed.
  const declaredRows = {
    miners: await collection(miners.name, miners.schema, beforeMiners, standby?.miners),
    groups: await collection("group", StoredGroup),
    places: await collection("place", StoredPlace),
    pools: await collection("pool", StoredPool),
    poolGroups: await collection("pool group", StoredPoolGroup),
    hosts: await collection("host", StoredHost),
    managedMiners: await collection(
      managedMiners.name,
      managedMiners.schema,
      idsAfter === 0 ? 0 : idsAfter + managedApart,
      standby?.managedMiners,
    ),
    agents: await collection("agent", StoredAgent),
    downloads: await collection("download", StoredDownload),
    templates: await collection("template", StoredTemplate),
    rules: await collection("rule", StoredRule),
    schedules: await collection("schedule", StoredSchedule),
    maintenance: await collection("maintenance window", StoredMaintenance),
    curtailmentPlans: await collection("curtailment plan", StoredCurtailmentPlan),
    channels: await collection("channel", StoredChannel),
    coins: await collection("coin", StoredCoin),
    users: await collection("user", StoredUser),
    heatings: await collection("heating", StoredHeating),
    roomMaxima: await collection("room maximum", StoredRoomMaximum),
    followLimits: await collection("follow limit", StoredFollowLimit),
    repairs: await collection("repair", StoredRepair),
    benchmarks: await collection("benchmark", StoredBenchmark),
    settings: await collection("settings section", StoredSection),
    siteJobs: await collection("site job", StoredSiteJob),
    lostCommands: await collection("lost command", StoredLostCommand),
    centres: await collection("centre", StoredCentre),
    sites: await openCollection(durable, turns, { name: "site", schema: StoredSite, after: 0 }),
  };
  const instance = await instanceOf(durable);
  const sessions = await openSessions(durable, instance);
  const mark = await openRunMark(fast, markFile, now, lease?.isRestored === false);
  const { recorder } = fast;
  const activePools = await openActivePools(recorder, standby?.activePools);
  const memory = await openRigMemories(recorder, standby?.memory);
  const groupEnergies = await openGroupEnergies(recorder);
  const power = await openPowerMemories(fast);
  const history = waiting === null ? recorder : patient(recorder, waiting);
  const samples = openSamples(history);
  const farmSamples = await openFarmSamples(history);
  const ruleLog = await openRuleLog(fast, now);
  const curtailments = await openCurtailments(fast);
  const keptValues = await openKeptValues(fast);
  const moneyDays = openMoneyDays(recorder);
  // Before the commands, because it reads the state in which the last run left them.
  const runs = await openRuns(fast, mark, now);
  const notifications = await openNotifications(fast, mark, now);
  const outbox = await openOutbox(fast);
  const idempotency = await openIdempotency(fast, now);
  const commands = await openCommands(fast, mark, now, unsaved, lease !== null);
  await mark.begin();
  const flush = async (): Promise<void> => {
    for (const part of [activePools, memory, power, samples, farmSamples, notifications, outbox, commands, idempotency])
      await part.flush();
    await waiting?.flush((statements) => recorder.write(statements));
  };
  return {
    ...declaredRows,
    commit: (changes) =>
      turns.run(async () => {
        const written = changes.map((each) => each.written());
        await durable.write(written.flatMap(({ statements }) => statements));
        for (const { apply } of written) apply();
      }),
    instance,
    lease,
    notifications,
    outbox,
    commands,
    idempotency,
    runs,
    activePools,
    memory,
    groupEnergies,
    power,
    samples,
    farmSamples,
    ruleLog,
    curtailments,
    keptValues,
    moneyDays,
    sessions,
    waiting: () => waiting?.status ?? null,
    flush,
    close: async () => {
      try {
        await flush();
      } finally {
        mark.close();
        await close();
      }
    },
  };
};
