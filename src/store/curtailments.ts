import { z } from "zod";
import { bulkOrders } from "../contract/bulk-orders.ts";
import {
  CurtailmentRamp,
  CurtailmentRestore,
  CurtailmentTarget,
  curtailedStates,
  curtailmentLevels,
  curtailmentStates,
} from "../contract/curtailment.ts";
import { Scope } from "../contract/rules.ts";
import { type Database, plain, type Row, type Statement } from "./database.ts";
import { upsert } from "./upsert.ts";

const moment = z.number().nullable();

const MeasuredEnergy = z.object({
  energy: z.number().describe("Wh of the time that was seen"),
  seen: z.number().describe("ms"),
  error: z.number().describe("Wh by which the energy of the whole time may be wrong"),
});
export type MeasuredEnergy = z.infer<typeof MeasuredEnergy>;

const StoredMeter = z.object({
  key: z.string(),
  before: z.number().describe("W when it began"),
  last: z
    .object({
      at: z.number(),
      power: z.number(),
      energy: z.number().nullable().describe("kWh of its counter"),
      ahead: z.number().optional().describe("Wh that it took since that was read, if it was read before `at`"),
    })
    .describe("until when it was added up"),
  byPower: MeasuredEnergy,
  byCounter: MeasuredEnergy,
  grain: z.number().nullable().describe("Wh by which its counter may be wrong; null = not known"),
});
/** What a meter of its places has shown since a curtailment began. */
export type StoredMeter = z.infer<typeof StoredMeter>;

/** A curtailment without its rigs. Times are epoch ms, powers W. */
export const StoredCurtailment = z.object({
  plan: z.string().nullable(),
  key: z.string().nullable().describe("that of its request"),
  reason: z.string(),
  cause: z.enum(["person", "rule", "signal", "limit"]),
  actor: z.string(),
  userId: z.number().nullable().describe("the user who began it; null: none"),
  drill: z.boolean(),
  safety: z.boolean(),
  urgent: z.boolean().describe("rigs do not wait for the least time that they mine"),
  scope: Scope.optional(),
  target: CurtailmentTarget,
  order: z.enum(bulkOrders),
  level: z.enum(curtailmentLevels),
  ramp: CurtailmentRamp,
  restore: CurtailmentRestore,
  state: z.enum(curtailmentStates),
  started: z.number(),
  until: moment,
  reached: moment,
  ended: moment,
  restored: moment,
  baseline: z.number(),
  targets: z
    .array(z.object({ from: z.number().describe("when it began to count"), until: z.number(), watts: z.number() }))
    .optional()
    .describe("targets that it had before, oldest first; absent = none"),
  released: z.boolean().describe("it has ended without giving back anything"),
  counts: z
    .record(z.enum(curtailedStates), z.int())
    .nullable()
    .describe("how many of its rigs were in each state when it was over; null: it is not"),
  moved: z.number().describe("when its target was last changed, or a rig was last given back power while it lasts"),
  measured: z
    .object({
      rigs: z.object({ at: z.number(), energy: z.number().describe("Wh"), seen: z.number().describe("ms") }),
      meters: z.array(StoredMeter).nullable().describe("null = it has none, or one was silent when it began"),
    })
    .optional()
    .describe("what its rigs and meters took from its start to its end; absent = no turn was taken"),
});
export type StoredCurtailment = z.infer<typeof StoredCurtailment>;

/** A rig of a curtailment. */
export const StoredCurtailedRig = z.object({
  name: z.string(),
  uid: z.string().nullable(),
  state: z.enum(curtailedStates),
  before: z
    .object({
      power: z.number().nullable().describe("W that it took; null = not known"),
      setting: z.number().nullable().describe("W that it was set to; null = it cannot be set, or that is not known"),
    })
    .describe("before any curtailment that has not ended"),
  wanted: z.number().describe("W; 0 = stopped"),
  sent: moment,
  reached: moment,
  restored: moment,
  tries: z.number(),
  gaveUp: z.boolean().describe("its power could not be given back, and is not tried again"),
  wakes: z.number().describe("times that it has started automatically"),
  message: z.string(),
});
export type StoredCurtailedRig = z.infer<typeof StoredCurtailedRig>;

export interface StoredCurtailmentSample {
  readonly time: number;
  /** W */
  readonly rigs: number;
  readonly meter: number | null;
}

type Id = { readonly id: number };

/** What is written of a curtailment in one transaction. */
export interface CurtailmentChanges {
  readonly curtailment?: StoredCurtailment | undefined;
  readonly rigs?: ReadonlyMap<number, StoredCurtailedRig> | undefined;
  readonly sample?: StoredCurtailmentSample | undefined;
}

/** Curtailments, with their rigs and what they took. Kept for two years. */
export interface CurtailmentLog {
  /** Stores a new one with its rigs, and resolves with its id. Throws store.full. */
  add(curtailment: StoredCurtailment, rigs: ReadonlyMap<number, StoredCurtailedRig>): Promise<number>;
  /** The id of a new one that is saved once the store can be written. */
  newId(): number;
  /** Throws store.full. */
  save(id: number, changes: CurtailmentChanges): Promise<void>;
  get(id: number): Promise<(StoredCurtailment & Id) | undefined>;
  withKey(key: string): Promise<(StoredCurtailment & Id) | undefined>;
  /** Newest first; `open`: only those that are not over; `before`: only those with a lower id. */
  list(filter: {
    readonly open: boolean;
    readonly limit: number;
    readonly before?: number;
  }): Promise<(StoredCurtailment & Id)[]>;
  rigs(id: number): Promise<Map<number, StoredCurtailedRig>>;
  /** Ids of the miners of its rigs. */
  minerIds(id: number): Promise<number[]>;
  /** Oldest first. */
  samples(id: number): Promise<StoredCurtailmentSample[]>;
  /** Removes some of those that began before this and are over; true while there are more. */
  prune(before: number): Promise<boolean>;
}

const curtailmentRows = upsert(
  "curtailment",
  { id: "integer", key: "text", started: "integer", is_over: "integer", value: "text" },
  ["id"],
);
const rigRows = upsert("curtailment_rig", { curtailment_id: "integer", miner_id: "integer", value: "text" }, [
  "curtailment_id",
  "miner_id",
]);
const sampleRows = upsert(
  "curtailment_sample",
  { curtailment_id: "integer", time: "integer", rigs: "real", meter: "real" },
  ["curtailment_id", "time"],
);

/** Ended ones that are removed at once. */
const pruneBatch = 50;

export const openCurtailments = async (database: Database): Promise<CurtailmentLog> => {
  const [newest] = await database.rows(plain("select max(id) as last from curtailment"));
  let last = Number(newest?.last ?? 0);

  const statementsOf = (id: number, { curtailment, rigs, sample }: CurtailmentChanges): Statement[] => [
    ...(curtailment === undefined ? [] : [curtailmentRows([rowOf(id, curtailment)])]),
    ...(rigs === undefined || rigs.size === 0
      ? []
      : [rigRows(Array.from(rigs, ([minerId, rig]) => [id, minerId, JSON.stringify(rig)]))]),
    ...(sample === undefined ? [] : [sampleRows([[id, sample.time, sample.rigs, sample.meter]])]),
  ];

  const found = async (text: string, ...values: (string | number)[]) =>
    (await database.rows(plain(text, ...values))).flatMap(curtailmentIn);

  const newId = (): number => {
    last += 1;
    return last;
  };

  return {
    newId,
    add: async (curtailment, rigs) => {
      const id = newId();
      await database.write(statementsOf(id, { curtailment, rigs }));
      return id;
    },
    save: async (id, changes) => {
      const statements = statementsOf(id, changes);
      if (statements.length > 0) await database.write(statements);
    },
    get: async (id) => (await found("select id, value from curtailment where id = ?", id))[0],
    withKey: async (key) => (await found("select id, value from curtailment where key = ?", key))[0],
    list: ({ open, limit, before = Number.MAX_SAFE_INTEGER }) =>
      found(
        `select id, value from curtailment where id < ? ${open ? "and is_over = 0" : ""} order by id desc limit ?`,
        before,
        limit,
      ),
    rigs: async (id) => {
      const rows = await database.rows(
        plain("select miner_id, value from curtailment_rig where curtailment_id = ? order by miner_id", id),
      );
      return new Map(
        rows.map((row) => [Number(row.miner_id), StoredCurtailedRig.parse(JSON.parse(String(row.value)))]),
      );
    },
    minerIds: async (id) => {
      const rows = await database.rows(plain("select miner_id from curtailment_rig where curtailment_id = ?", id));
      return rows.map((row) => Number(row.miner_id));
    },
    samples: async (id) => {
      const rows = await database.rows(
        plain("select time, rigs, meter from curtailment_sample where curtailment_id = ? order by time", id),
      );
      return rows.map(({ time, rigs, meter }) => ({
        time: Number(time),
        rigs: Number(rigs),
        meter: typeof meter === "number" ? meter : null,
      }));
    },
    prune: async (before) => {
      const outdated = `(select id from curtailment where is_over = 1 and started < ? order by id limit ${pruneBatch})`;
      const [first] = await database.rows(plain(`select id from ${outdated} as outdated`, before));
      if (first === undefined) return false;
      await database.write([
        plain(`delete from curtailment_rig where curtailment_id in ${outdated}`, before),
        plain(`delete from curtailment_sample where curtailment_id in ${outdated}`, before),
        plain(`delete from curtailment where id in ${outdated}`, before),
      ]);
      return true;
    },
  };
};

const rowOf = (id: number, curtailment: StoredCurtailment) => [
  id,
  curtailment.key,
  curtailment.started,
  curtailment.state === "ended" ? 1 : 0,
  JSON.stringify(curtailment),
];

/** None for a row that this release does not understand: it must not keep the service from starting. */
function curtailmentIn({ id, value }: Row): (StoredCurtailment & Id)[] {
  const parsed = StoredCurtailment.safeParse(JSON.parse(String(value)));
  return parsed.success ? [{ ...parsed.data, id: Number(id) }] : [];
}
