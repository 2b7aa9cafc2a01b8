import { unknownReadings } from "../contract/readings.ts";
import type { Miner, MinerGroup } from "../contract/resources.ts";
import type { MinerRow } from "../contract/rows.ts";
import { numberAt } from "../contract/site-numbers.ts";
import { withoutParts } from "../contract/without-parts.ts";
import type { Format } from "../units/format.ts";
import type { Site } from "./site.ts";
import { groupNameAt } from "./translate.ts";

type Place = Pick<Site, "id" | "name" | "groups" | "unreachableSince">;

/** Why nothing is known of the rigs of a site. */
export const awayText = ({ name, unreachableSince }: Place): string =>
  `The site ${name} has been out of reach since ${unreachableSince ?? "now"}`;

/**
 * A miner whose site cannot be reached: what it is and where it belongs, as they last were, and no readings. It counts as
 * not read yet, so that front ends keep what they have of it, and as offline, so that none shows that as current.
 */
export function awayMiner(site: Place, row: MinerRow, format: Format): Miner {
  const { id, unreachableSince } = site;
  const since = unreachableSince ?? new Date(0).toISOString();
  const group = numberAt(id, row.group);
  const nothing = format.money(0);
  return {
    id: numberAt(id, row.id),
    uid: row.uid,
    name: row.name,
    hostname: row.hostname ?? "",
    hostDescription: row.address ?? "",
    groupId: group,
    groupID: group,
    hardware: row.model ?? "",
    softwareType: row.software ?? "",
    macAddress: "",
    pool: "",
    temperature: format.temperatures([]),
    maxTemperatureValue: 0,
    avgTemperatureValue: 0,
    statusInfo: { statusDisplay: "Starting", statusLine3: null, secondsSinceStart: 0 },
    isRunning: false,
    isOffline: true,
    hasValidStatus: false,
    progressInfo: {
      line1: `Accepted: ${format.count(0)}`,
      line2: `Rejected: ${format.count(0)}`,
      line3: `HW Errors: ${format.count(0)}`,
      acceptedValue: 0,
      rejectedValue: 0,
      hwErrorsValue: 0,
    },
    speedInfo: {
      logInterval: 0,
      hashrate: format.hashrate(0),
      avgHashrate: format.hashrate(0),
      workUtility: format.decimal(0),
      hashrateValue: 0,
      avgHashrateValue: 0,
      line2: null,
      line3: null,
    },
    coinInfo: {
      displayName: "",
      shortName: "",
      algorithm: "",
      coinClass: "",
      revenuePerDay: nothing,
      revenuePerDayValue: 0,
      revenuePerMonth: nothing,
      revenuePerDayValueDisplayCurrency: 0,
      revenuePerDayValueBtc: 0,
      profitPerDay: nothing,
      profitPerDayValue: 0,
      profitPerMonth: nothing,
      profitPerDayValueBtc: 0,
      powerUsageValue: 0,
      isActualPowerUsage: false,
    },
    updatedUtc: since,
    updated: format.localTime(Date.parse(since)),
    ...withoutParts(),
    location: row.location ?? { site: null, container: null, rack: null, slot: null },
    tags: [...row.tags],
    readings: {
      ...unknownReadings(),
      at: null,
      stale: true,
      energy: null,
      efficiency: null,
      startedAt: null,
      reason: { code: "unknown", text: awayText(site), since },
    },
    controls: [],
    money: {
      revenuePerDay: null,
      costPerDay: null,
      profitPerDay: null,
      currency: null,
      electricityPrice: null,
      breakEvenPrice: null,
      energyCost: null,
    },
    poolView: null,
    heating: null,
    power: { heldBy: null, max: null },
    identity: null,
    repair: row.repair,
  };
}

/** Miners of a site that cannot be reached, by group. */
export function awayGroups(site: Place, rows: readonly MinerRow[], format: Format): MinerGroup[] {
  const names = new Map(site.groups.map(({ id, name }) => [id, name]));
  return Array.from(
    Map.groupBy(rows, ({ group }) => group),
    ([group, members]) => ({
      id: numberAt(site.id, group),
      name: groupNameAt(site, names.get(group) ?? ""),
      minerList: members.map((row) => awayMiner(site, row, format)),
    }),
  );
}
