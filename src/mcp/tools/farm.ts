import { z } from "zod";
import { KnownSum } from "../../contract/known-of.ts";
import type { MinerRow } from "../../contract/rows.ts";
import { asData, longestMessage } from "../data-text.ts";
import { hashrateText, kilowattHours, short } from "../figures.ts";
import { pageInput, pageOf } from "../page.ts";
import { GroupRef, rowsOf } from "../rigs.ts";
import { reading, type Small } from "../tool.ts";

export const farmSummary = reading({
  name: "farm_summary",
  title: "Summarise the farm",
  description:
    "The whole farm, or one group, in figures: rigs by state, hash rate by algorithm, power in W, hottest rig, and for " +
    "the whole farm money per day and energy in kWh. Sums leave out rigs in repair, and those of sites that cannot be reached.",
  input: z.strictObject({ group: GroupRef.optional().describe("id or name of a group; absent = the whole farm") }),
  uses: ["listMinerRows", "getSummary"],
  read: async ({ group }, context) => {
    const rows = await rowsOf(context, ["name", "status", "hashrate", "power", "temperature", "algorithm"], { group });
    const sums = sumsOf(rows);
    if (group !== undefined) return sums;
    const { money, energy } = await context.service.getSummary({}, context.caller);
    return {
      ...sums,
      money:
        money === undefined
          ? null
          : {
              currency: money.currency,
              revenuePerDay: short(money.revenuePerDay),
              electricityCostPerDay: short(money.costPerDay),
              profitPerDay: short(money.profitPerDay),
              rigsWithKnownProfit: money.profitMinerCount,
              rigs: money.minerCount,
            },
      energySoFarKwh: kilowattHours(energy),
    };
  },
});

function sumsOf(rows: readonly MinerRow[]): Small {
  const states: Record<string, number> = {};
  const rates = new Map<string, KnownSum>();
  const power = new KnownSum();
  let hottest: MinerRow | undefined;
  const reached = rows.filter(({ siteUnreachable }) => siteUnreachable === undefined);
  for (const row of reached) {
    states[row.status] = (states[row.status] ?? 0) + 1;
    if (row.repair !== null) continue;
    power.add(row.power);
    if (row.temperature !== null && row.temperature > (hottest?.temperature ?? Number.NEGATIVE_INFINITY)) hottest = row;
    if (row.hashrate === null) continue;
    const algorithm = row.algorithm ?? "";
    const rate = rates.get(algorithm) ?? new KnownSum();
    rate.add(row.hashrate);
    rates.set(algorithm, rate);
  }
  return {
    rigs: rows.length,
    rigsByState: states,
    rigsInRepair: reached.filter(({ repair }) => repair !== null).length,
    rigsOfUnreachableSites: rows.length - reached.length,
    hashrates: [...rates].slice(0, 20).map(([algorithm, { value, known }]) => ({
      algorithm: asData(algorithm),
      hashrate: hashrateText(value, algorithm),
      rigs: known,
    })),
    powerW: power.value === null ? null : Math.round(power.value),
    rigsWithKnownPower: power.known,
    hottest:
      hottest === undefined ? null : { id: hottest.id, name: asData(hottest.name), temperatureC: hottest.temperature },
  };
}

export const listGroups = reading({
  name: "list_groups",
  title: "List groups",
  description: "The groups of rigs, such as halls and rooms, with the number of rigs directly in each, in pages.",
  input: z.strictObject(pageInput),
  uses: ["listGroups", "listMinerRows"],
  read: async (page, context) => {
    const groups = await context.service.listGroups({}, context.caller);
    const rows = await rowsOf(context, ["status", "group"]);
    const counts = new Map<number, { rigs: number; mining: number }>();
    for (const { group, status, siteUnreachable } of rows) {
      const count = counts.get(group) ?? { rigs: 0, mining: 0 };
      count.rigs += 1;
      count.mining += status === "Mining" && siteUnreachable === undefined ? 1 : 0;
      counts.set(group, count);
    }
    return pageOf("groups", groups, page, ({ id, name, parentId, room = false }) => ({
      id,
      name: asData(name),
      insideGroup: parentId === 0 ? null : parentId,
      isRoom: room,
      rigs: counts.get(id)?.rigs ?? 0,
      rigsMining: counts.get(id)?.mining ?? 0,
    }));
  },
});

export const listPools = reading({
  name: "list_pools",
  title: "List pools",
  description: "The stored pools and pool groups that change_pool takes, in pages; without passwords and wallets.",
  input: z.strictObject(pageInput),
  uses: ["listPools", "listPoolGroups"],
  read: async (page, { service, caller }) => {
    const [pools, groups] = await Promise.all([service.listPools({}, caller), service.listPoolGroups({}, caller)]);
    const entries = [
      ...pools.list.map(({ id, description, url, coinShortName, coinAlgorithm }) => ({
        type: "single",
        id,
        name: asData(description),
        url: asData(url),
        coin: asData(coinShortName),
        algorithm: asData(coinAlgorithm),
      })),
      ...groups.map(({ id, name, pools: ids }) => ({
        type: "group",
        id: Number(id),
        name: asData(name),
        pools: ids.slice(0, 20),
      })),
    ];
    return pageOf("pools", entries, page, (each) => each);
  },
});

export const listRooms = reading({
  name: "list_rooms",
  title: "List rooms",
  description:
    "Rooms that rigs heat, groups with one power slider, and solar surpluses that rigs follow: temperature in °C, power " +
    "in W, and the values that set_room takes. In pages.",
  input: z.strictObject(pageInput),
  uses: ["listRooms"],
  read: async (page, { service, caller }) =>
    pageOf("rooms", await service.listRooms({}, caller), page, (room) => ({
      key: room.key,
      name: asData(room.name),
      kind: room.kind,
      on: room.on,
      rigs: room.miners.length,
      rigsMining: room.mining,
      temperatureC: room.temperature,
      powerW: room.power,
      surplusW: room.surplus,
      control:
        room.control === null
          ? null
          : { unit: room.control.unit, value: room.control.value, min: room.control.min, max: room.control.max },
      maximumW: room.max?.watts ?? null,
      heldBy: asData(room.heldBy?.what),
      today: {
        energyKwh: kilowattHours(room.today.energy),
        electricityCost: short(room.today.cost),
        revenue: short(room.today.revenue),
        currency: room.today.currency,
      },
    })),
});

export const listRules = reading({
  name: "list_rules",
  title: "List rules",
  description: "The rules that act or notify automatically, whether they are on, and what each did last, in pages.",
  input: z.strictObject(pageInput),
  uses: ["listRules"],
  read: async (page, { service, caller }) =>
    pageOf("rules", (await service.listRules({}, caller)).rules, page, (rule) => ({
      id: rule.id,
      name: asData(rule.name),
      enabled: rule.enabled,
      problem: asData(rule.problem, longestMessage),
      rigsFiring: rule.firing,
      rigsHeldBack: rule.held,
      lastRun:
        rule.lastRun === null
          ? null
          : {
              time: rule.lastRun.time,
              outcome: rule.lastRun.outcome,
              message: asData(rule.lastRun.message, longestMessage),
            },
    })),
});

export const upcoming = reading({
  name: "upcoming",
  title: "What is planned",
  description: "What schedules begin in the next days, and the maintenance windows, soonest first, in pages.",
  input: z.strictObject({
    days: z.number().min(0).max(31).default(7).describe("days ahead, at most 31; default 7"),
    ...pageInput,
  }),
  uses: ["upcomingSchedules", "listMaintenance"],
  read: async ({ days, ...page }, { service, caller }) => {
    const [schedules, windows] = await Promise.all([
      service.upcomingSchedules({ days }, caller),
      service.listMaintenance({}, caller),
    ]);
    return {
      ...pageOf("schedules", schedules, page, ({ name, start, end }) => ({ name: asData(name), start, end })),
      maintenance: windows.slice(0, 20).map(({ name, from, until, active, miners }) => ({
        name: asData(name),
        from,
        until,
        active,
        rigs: miners,
      })),
    };
  },
});
