import { z } from "zod";
import { moneyPeriods, moneySubjects } from "../../contract/resources.ts";
import { asData, longestMessage } from "../data-text.ts";
import { hashrateText, kilowattHours, short } from "../figures.ts";
import { pageInput, pageOf } from "../page.ts";
import { GroupRef, RigRef, rigNamed } from "../rigs.ts";
import { reading, type ToolContext } from "../tool.ts";

const hour = 3_600_000;
const mostPoints = 100;

const Time = z.iso
  .datetime({ offset: true, error: "must be a time like 2026-01-31T12:00:00Z" })
  .transform((text) => Date.parse(text));
const When = z.iso.date("must be a date like 2026-11-22");

export const history = reading({
  name: "history",
  title: "History of a rig or the farm",
  description:
    "Hash rate, power in W and temperature in °C of a rig over time, or hash rate, power, mining rigs and money per day " +
    `of the farm or a group: at most ${mostPoints} points, each the mean of its step.`,
  input: z.strictObject({
    rig: RigRef.optional().describe("id, uid or name; absent = the farm"),
    group: GroupRef.optional().describe("id or name of a group; only without rig"),
    from: Time.optional().describe("ISO 8601 with zone; default: 24 hours before to"),
    to: Time.optional().describe("default: now"),
    points: z.int().min(1).max(mostPoints).default(48).describe(`1 to ${mostPoints}; default 48`),
  }),
  uses: ["listMinerRows", "getHistory", "getSummaryHistory"],
  read: async ({ rig, group, from, to, points }, context) => {
    const { service, caller, now } = context;
    const end = to ?? now();
    const start = from ?? end - 24 * hour;
    const step = Math.max(60, Math.ceil((end - start) / 1_000 / points));
    const span = { from: start, to: end, step };
    const last = <T>(all: readonly T[]): readonly T[] => all.slice(-points);
    if (rig !== undefined) {
      const { id, name, algorithm } = await rigNamed(rig, context);
      const found = await service.getHistory({ id, ...span }, caller);
      return {
        rig: { id, name: asData(name) },
        stepSeconds: found.step,
        points: last(found.points).map(([time, hashrate, power, temperature, energy]) => ({
          time: timeText(time),
          hashrate: hashrateText(hashrate, algorithm),
          powerW: short(power),
          temperatureC: short(temperature),
          energyCounterKwh: kilowattHours(energy),
        })),
      };
    }
    const found = await service.getSummaryHistory({ ...span, ...(group === undefined ? {} : { group }) }, caller);
    return {
      stepSeconds: found.step,
      algorithm: asData(found.algorithm),
      currency: found.currency,
      points: last(found.points).map(([time, hashrate, power, mining, rigs, revenue, cost, profit]) => ({
        time: timeText(time),
        hashrate: hashrateText(hashrate, found.algorithm),
        powerW: short(power),
        rigsMining: short(mining),
        rigs: short(rigs),
        revenuePerDay: short(revenue),
        electricityCostPerDay: short(cost),
        profitPerDay: short(profit),
      })),
    };
  },
});

const timeText = (time: number): string => new Date(time).toISOString();

export const earnings = reading({
  name: "earnings",
  title: "What was earned and paid",
  description:
    "Revenue, electricity cost, profit and energy in kWh by day or month, of rigs, groups, coins or algorithms; the " +
    "totals of all rigs first, then the rows in pages.",
  input: z.strictObject({
    from: When.optional().describe("first local date; default: 30 days, or 12 months, before to"),
    to: When.optional().describe("last local date, included; default: today"),
    by: z.enum(moneyPeriods).default("day"),
    of: z.enum(moneySubjects).default("miner").describe("miner = each rig"),
    ...pageInput,
  }),
  uses: ["getMoney"],
  read: async ({ from, to, by, of, ...page }, { service, caller }) => {
    const span = { ...(from === undefined ? {} : { from }), ...(to === undefined ? {} : { to }) };
    const { currency, totalList, list } = await service.getMoney({ ...span, by, of }, caller);
    return {
      currency,
      totals: totalList.slice(-mostPoints).map(sums),
      ...pageOf("rows", list, page, (row) => ({ id: row.id, name: asData(row.name), ...sums(row) })),
    };
  },
});

interface Sums {
  readonly period: string;
  readonly energy: number | null;
  readonly cost: number | null;
  readonly revenue: number | null;
  readonly profit: number | null;
  readonly incomplete: boolean;
}

const sums = ({ period, energy, cost, revenue, profit, incomplete }: Sums) => ({
  period,
  energyKwh: kilowattHours(energy),
  electricityCost: short(cost),
  revenue: short(revenue),
  profit: short(profit),
  incomplete,
});

export const electricityPrice = reading({
  name: "electricity_price",
  title: "Price of electricity",
  description: "What a kWh costs now and in the coming hours, as far as known, with surcharge; optionally for one rig.",
  input: z.strictObject({
    rig: RigRef.optional().describe("id, uid or name; absent = the general price"),
    hours: z.int().min(1).max(72).default(24).describe("hours ahead, at most 72; default 24"),
  }),
  uses: ["listMinerRows", "getPrices"],
  read: async ({ rig, hours }, context) => {
    const { service, caller, now } = context;
    const from = now();
    const prices = await service.getPrices(
      { ...(await filterOf(rig, undefined, context)), from, to: from + hours * hour },
      caller,
    );
    return {
      currency: prices.currency,
      nowPerKwh: prices.now,
      source: asData(prices.source),
      readAt: prices.at,
      problem: asData(prices.problem, longestMessage),
      prices: prices.prices.slice(0, 4 * 72).map(({ start, end, value }) => ({ start, end, perKwh: value })),
    };
  },
});

export const notifications = reading({
  name: "notifications",
  title: "Notifications",
  description: "Notifications, newest first, in pages: those that nobody has acknowledged, or all.",
  input: z.strictObject({
    all: z.boolean().default(false).describe("true: acknowledged ones too"),
    open: z.boolean().default(false).describe("true: only those that are not over"),
    ...pageInput,
  }),
  uses: ["listNotifications"],
  read: async ({ all, open, ...page }, { service, caller }) => {
    const { notificationList } = await service.listNotifications({}, caller);
    const fitting = notificationList
      .filter(({ isAcknowledged, closedUtc }) => (all || !isAcknowledged) && (!open || closedUtc === null))
      .toSorted((one, other) => other.id - one.id);
    return pageOf("notifications", fitting, page, (each) => ({
      id: each.id,
      severity: each.severity,
      title: asData(each.title),
      message: asData(each.message, longestMessage),
      rig: each.minerId,
      rigName: asData(each.minerName),
      time: each.timeUtc,
      lastTime: each.lastUtc,
      count: each.count,
      overAt: each.closedUtc,
      acknowledged: each.isAcknowledged,
    }));
  },
});

/** The arguments of what happened to one rig, or to all. */
const pastInput = z.strictObject({
  rig: RigRef.optional().describe("id, uid or name; absent = all rigs"),
  since: Time.optional().describe("ISO 8601 with zone"),
  ...pageInput,
});

const filterOf = async (rig: number | string | undefined, since: number | undefined, context: ToolContext) => ({
  ...(rig === undefined ? {} : { miner: (await rigNamed(rig, context)).id }),
  ...(since === undefined ? {} : { since }),
});

export const whatHappened = reading({
  name: "what_happened",
  title: "What happened to rigs",
  description:
    "Commands that were sent to rigs, with sender and result, and notes, repairs and restarts; newest first, in pages.",
  input: pastInput,
  uses: ["listMinerRows", "listCommands"],
  read: async ({ rig, since, ...page }, context) => {
    const { commandList } = await context.service.listCommands(await filterOf(rig, since, context), context.caller);
    return pageOf("entries", commandList, page, (command) => ({
      time: command.time,
      rig: command.minerId,
      rigName: asData(command.minerName),
      by: asData(command.actor),
      because: asData(command.cause?.key),
      action: asData(command.action),
      parameters: asData(parametersText(command.parameters)),
      state: command.state,
      message: asData(command.message, longestMessage),
    }));
  },
});

const parametersText = (parameters: Readonly<Record<string, string | number | boolean>>): string =>
  Object.entries(parameters)
    .map(([name, value]) => `${name}=${value}`)
    .join(", ");

export const ruleRuns = reading({
  name: "rule_runs",
  title: "What rules did",
  description: "What rules and schedules did, and what held them back, newest first, in pages.",
  input: pastInput,
  uses: ["listMinerRows", "listRuns"],
  read: async ({ rig, since, ...page }, context) => {
    const { runs } = await context.service.listRuns(await filterOf(rig, since, context), context.caller);
    return pageOf("runs", runs, page, (run) => ({
      time: run.time,
      kind: run.kind,
      name: asData(run.name),
      rig: run.minerId,
      outcome: run.outcome,
      message: asData(run.message, longestMessage),
      heldBy: asData(run.heldBy, longestMessage),
    }));
  },
});
