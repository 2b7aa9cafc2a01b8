import { z } from "zod";
import type { Control, ReasonCode } from "../../contract/readings.ts";
import { type Miner, minerStatuses } from "../../contract/resources.ts";
import type { MinerRow, RowColumn } from "../../contract/rows.ts";
import { asData, longestMessage, withoutMarks } from "../data-text.ts";
import { efficiencyText, hashrateText, kilowattHours, short } from "../figures.ts";
import { pageInput, pageOf } from "../page.ts";
import { GroupRef, RigRef, rigNamed, rowsOf } from "../rigs.ts";
import { reading, type Small, type ToolContext } from "../tool.ts";

const sorts = ["id", "name", "hashrate", "power", "temperature", "efficiency", "profit"] as const;
type Sort = (typeof sorts)[number];

/** The columns of a row beside the usual ones. */
const listColumns: readonly RowColumn[] = ["model", "algorithm", "efficiency", "worker"];

export const listRigs = reading({
  name: "list_rigs",
  title: "List rigs",
  description:
    "Rigs in pages, with state, hash rate, power in W, temperature in °C, pool and profit per day. Filter by state, " +
    "group, tag or a part of the name; sort to find the hottest or the least efficient. Rigs with siteUnreachableSince " +
    "are as they were then, and what they do now is unknown.",
  input: z.strictObject({
    status: z.array(z.enum(minerStatuses)).min(1).max(minerStatuses.length).optional().describe("only these states"),
    group: GroupRef.optional().describe("id or name of a group, with its subgroups; 0 = rigs without a group"),
    tag: z.string().min(1).max(64).optional(),
    name: z.string().min(1).max(100).optional().describe("only rigs whose name contains this"),
    sort: z.enum(sorts).default("id").describe("default: id; figures: highest first, unknown last"),
    lowestFirst: z.boolean().default(false).describe("true: lowest figures first"),
    ...pageInput,
  }),
  uses: ["listMinerRows"],
  read: async ({ status, group, tag, name, sort, lowestFirst, ...page }, context) => {
    const rows = await rowsOf(context, listColumns, { status, group, tag });
    const wanted = name === undefined ? null : withoutMarks(name).toLowerCase();
    const fitting = wanted === null ? rows : rows.filter((row) => row.name.toLowerCase().includes(wanted));
    const { display } = await context.service.about(context.caller);
    return { currency: display.currency, ...pageOf("rigs", sorted(fitting, sort, lowestFirst), page, smallRow) };
  },
});

function sorted(rows: readonly MinerRow[], sort: Sort, lowestFirst: boolean): readonly MinerRow[] {
  if (sort === "id") return rows.toSorted((one, other) => one.id - other.id);
  if (sort === "name")
    return rows.toSorted((one, other) => (one.name < other.name ? -1 : one.name > other.name ? 1 : one.id - other.id));
  const sign = lowestFirst ? 1 : -1;
  return rows
    .map((row) => ({ row, key: sign * (row[sort] ?? sign * Number.MAX_VALUE) }))
    .sort((one, other) => one.key - other.key || one.row.id - other.row.id)
    .map(({ row }) => row);
}

const smallRow = (row: MinerRow): Small => ({
  id: row.id,
  name: asData(row.name),
  status: row.status,
  reason: row.reason,
  hashrate: hashrateText(row.hashrate, row.algorithm),
  powerW: row.power,
  temperatureC: row.temperature,
  efficiency: efficiencyText(row.efficiency),
  profitPerDay: row.profit,
  pool: asData(row.pool),
  worker: asData(row.worker),
  model: asData(row.model),
  group: row.group,
  alarms: row.alarms,
  ...(row.readAt === null ? {} : { lastReadAt: row.readAt }),
  ...(row.siteUnreachable === undefined ? {} : { siteUnreachableSince: row.siteUnreachable }),
  ...(row.repair === null ? {} : { inRepair: true }),
});

export const rigDetails = reading({
  name: "rig_details",
  title: "Show a rig",
  description:
    "All about one rig: hash rate, power in W, temperatures in °C, boards, fans, pools, shares, money, and the values " +
    "that its settings can have.",
  input: z.strictObject({ rig: RigRef.describe("id, uid or name") }),
  uses: ["listMinerRows", "getMiner"],
  read: async ({ rig }, context) => details(await minerOf(rig, context)),
});

export async function minerOf(rig: number | string, context: ToolContext): Promise<Miner> {
  const { id } = await rigNamed(rig, context);
  return context.service.getMiner({ id }, context.caller);
}

const stateOf = ({ id, name, statusInfo, readings, repair }: Miner): Small => ({
  id,
  name: asData(name),
  status: statusInfo.statusDisplay,
  reason:
    readings.reason === null
      ? null
      : {
          code: readings.reason.code,
          text: asData(readings.reason.text, longestMessage),
          since: readings.reason.since,
        },
  readAt: readings.at,
  stale: readings.stale,
  inRepair: repair ? { since: repair.since, note: asData(repair.note, longestMessage) } : null,
});

function details(miner: Miner): Small {
  const { readings, identity, money, power, controls } = miner;
  const { algorithm } = readings;
  return {
    ...stateOf(miner),
    group: miner.groupId,
    address: asData(miner.hostDescription),
    make: asData(identity?.make),
    model: asData(identity?.model ?? miner.hardware),
    firmware: asData(identity?.firmware),
    algorithm: asData(algorithm),
    hashrate: hashrateText(readings.hashrate, algorithm),
    hashrateAverage: hashrateText(readings.hashrateAverage, algorithm),
    hashrateExpected: hashrateText(readings.hashrateExpected, algorithm),
    powerW: readings.power,
    powerSource: readings.powerSource,
    efficiency: efficiencyText(readings.efficiency),
    energyKwh: kilowattHours(readings.energy),
    temperatureC: readings.temperature,
    temperatureInC: readings.temperatureIn,
    temperatureOutC: readings.temperatureOut,
    uptimeSeconds: readings.uptime,
    mode: asData(readings.mode),
    shares: readings.shares,
    boards: readings.boards.slice(0, 16).map((board) => ({
      slot: board.slot,
      hashrate: hashrateText(board.hashrate, algorithm),
      temperatureC: board.temperature,
      chipTemperatureC: board.chipTemperature,
      chips: board.chips,
      chipsExpected: board.chipsExpected,
    })),
    fans: readings.fans.slice(0, 16),
    errors: readings.errors.slice(0, 10).map(({ code, text }) => ({
      code: asData(code),
      text: asData(text, longestMessage),
    })),
    notes: readings.notes.slice(0, 10).map((note) => asData(note, longestMessage)),
    pools: miner.poolList.slice(0, 10).map((pool) => ({
      name: asData(pool.name),
      url: asData(pool.additionalInfo.displayUrl),
      worker: asData(pool.additionalInfo.worker),
      status: asData(pool.statusInfo.statusDisplay),
      priority: pool.priorityInfo.priority,
    })),
    money: {
      currency: money.currency,
      revenuePerDay: short(money.revenuePerDay),
      electricityCostPerDay: short(money.costPerDay),
      profitPerDay: short(money.profitPerDay),
      electricityPricePerKwh: money.electricityPrice,
    },
    tags: miner.tags.slice(0, 20).map((tag) => asData(tag)),
    powerHeldBy: asData(power.heldBy?.what),
    settings: controls.filter(({ kind }) => kind !== "trigger").map(setting),
  };
}

const setting = ({ key, unit, min, max, value, options }: Control): Small => ({
  key,
  value: typeof value === "string" ? asData(value) : value,
  ...(unit === null ? {} : { unit }),
  ...(min === null ? {} : { min }),
  ...(max === null ? {} : { max }),
  ...(options === null
    ? {}
    : {
        options: options
          .slice(0, 40)
          .map((option) => asData(typeof option === "string" ? option : `${option.label} (${option.watts} W)`)),
      }),
});

/** What usually helps; the service's own words on the reason are in the rig's details. */
const remedies = {
  user: "somebody stopped it; start_rigs starts it again",
  "power-limit": "its power limit leaves nothing to mine with",
  hot: "it is too hot: check fans, dust and room temperature",
  cooling: "it cools down before it starts again",
  warming: "it warms up before it starts",
  cold: "it is too cold to start",
  tuning: "its firmware is tuning; wait",
  pools: "no pool accepts it: check pool address, worker and internet",
  network: "it has no network",
  licence: "its firmware lacks a licence",
  hardware: "a part of it is broken: see its errors",
  "no-power": "its plug or power supply is off",
  updating: "it updates its firmware; wait",
  login: "the stored user name or password is wrong",
  program: "its mining program has ended or cannot run",
  unknown: "it does not say why",
} as const satisfies Record<ReasonCode, string>;

const silent = "it does not answer: check power and network; its last readings are from lastReadAt";

export const whyNotHashing = reading({
  name: "why_not_hashing",
  title: "Why do rigs not hash?",
  description:
    "Every rig that does not mine, with its state, the reason and what usually helps, in pages; or everything that is " +
    "known about one rig: reason, errors, open notifications and the last commands.",
  input: z.strictObject({
    rig: RigRef.optional().describe("id, uid or name; absent = all rigs that do not mine"),
    group: GroupRef.optional().describe("id or name of a group; only without rig"),
    ...pageInput,
  }),
  uses: ["listMinerRows", "getMiner", "listNotifications", "listCommands"],
  read: async ({ rig, group, ...page }, context) => {
    if (rig !== undefined) return reasonsOf(await minerOf(rig, context), context);
    const idle = minerStatuses.filter((status) => status !== "Mining");
    const rows = await rowsOf(context, ["name", "status", "reason", "readAt"], { status: idle, group });
    return pageOf("rigs", rows, page, ({ id, name, status, reason, readAt, repair }) => ({
      id,
      name: asData(name),
      status,
      reason,
      meaning: status === "Disconnected" ? silent : reason === null ? null : remedies[reason],
      ...(readAt === null ? {} : { lastReadAt: readAt }),
      ...(repair === null ? {} : { inRepair: true }),
    }));
  },
});

async function reasonsOf(miner: Miner, { service, caller }: ToolContext): Promise<Small> {
  const [{ notificationList }, { commandList }] = await Promise.all([
    service.listNotifications({}, caller),
    service.listCommands({ miner: miner.id }, caller),
  ]);
  const code = miner.readings.reason?.code;
  const isAway = miner.statusInfo.statusDisplay === "Disconnected";
  return {
    ...stateOf(miner),
    meaning: isAway ? silent : code === undefined ? null : remedies[code],
    hashrate: hashrateText(miner.readings.hashrate, miner.readings.algorithm),
    temperatureC: miner.readings.temperature,
    errors: miner.readings.errors.slice(0, 10).map(({ text }) => asData(text, longestMessage)),
    pools: miner.poolList.slice(0, 10).map((pool) => ({
      url: asData(pool.additionalInfo.displayUrl),
      status: asData(pool.statusInfo.statusDisplay),
    })),
    powerHeldBy: asData(miner.power.heldBy?.what),
    openNotifications: notificationList
      .filter(({ minerId, closedUtc }) => minerId === miner.id && closedUtc === null)
      .slice(0, 10)
      .map(({ title, message, timeUtc }) => ({
        time: timeUtc,
        title: asData(title),
        message: asData(message, longestMessage),
      })),
    lastCommands: commandList.slice(0, 5).map(({ time, actor, action, state, message }) => ({
      time,
      by: asData(actor),
      action: asData(action),
      state,
      message: asData(message, longestMessage),
    })),
  };
}
