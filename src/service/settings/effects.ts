import { isDeepStrictEqual } from "node:util";
import type { Config } from "../../config/schema.ts";
import type { SettingsSection } from "../../contract/settings.ts";
import type { Detail } from "../../messages/coded-text.ts";
import { detail } from "../../messages/detail.ts";

/** The effects of changing a section, as sentences shown before it is saved. */
export function effectsOf(section: SettingsSection, before: Config, after: Config): Detail[] {
  if (isDeepStrictEqual(before[section], after[section])) return [];
  return effects[section]?.(before, after) ?? [];
}

type Effects = (before: Config, after: Config) => Detail[];

const effects: Partial<Record<SettingsSection, Effects>> = {
  display: ({ display: before }, { display: after }) => [
    ...(before.currency === after.currency
      ? []
      : [detail("effect.currency", { currency: after.currency, former: before.currency })]),
    ...(before.timeZone === after.timeZone ? [] : [detail("effect.timeZone")]),
  ],
  poll: ({ poll: before }, { poll: after }) =>
    before.interval === after.interval
      ? []
      : [detail("effect.poll", { seconds: after.interval, former: before.interval })],
  heating: ({ heating: before }, { heating: after }) => loopEffects("heating", before, after),
  follow: ({ follow: before }, { follow: after }) => loopEffects("follow", before, after),
  mqtt: ({ mqtt: before }, { mqtt: after }) => {
    if (after === undefined) return [detail("effect.mqttStops")];
    if (before === undefined) return [detail("effect.mqttStarts")];
    const [former, base] = [before.base, after.base];
    return [
      detail("effect.mqttReconnects"),
      ...(former === base ? [] : [detail("effect.topicsMove", { former, base })]),
    ];
  },
  http: ({ http: before }, { http: after }) => {
    if (before.key === after.key) return [];
    if (after.key === undefined) return [detail(after.open ? "effect.openToAll" : "effect.onlyHere")];
    return [detail(before.key === undefined ? "effect.needsKey" : "effect.needsNewKey")];
  },
  scan: (_before, { scan: after }) => [
    after?.every === undefined
      ? detail("effect.searchOnRequest")
      : detail("effect.searchEvery", { seconds: after.every }),
    ...(after?.reports === true ? [detail("effect.reportsAsked")] : []),
    ...((after?.leases ?? []).length > 0 ? [detail("effect.leasesAsked")] : []),
  ],
  logins: ({ logins: before }, { logins: after }) => {
    const names = goneFrom(before, after);
    return names === "" ? [] : [detail("effect.loginsGone", { names })];
  },
  sites: ({ sites: before }, { sites: after }) => {
    const names = goneFrom(before, after);
    return [...(names === "" ? [] : [detail("effect.sitesGone", { names })]), detail("effect.sitesAgain")];
  },
  centre: (_before, { centre: after }) =>
    after === undefined ? [detail("effect.centreGone")] : [detail(centreMay[after.privilege], { url: after.url })],
  history: ({ history: before }, { history: after }) => [
    ...(after.raw < before.raw ? [detail("effect.samples", { days: after.raw })] : []),
    ...(after.hourly < before.hourly ? [detail("effect.hourly", { days: after.hourly })] : []),
    ...remoteWriteEffects(before.remoteWrite, after.remoteWrite),
  ],
  automation: ({ automation: before }, { automation: after }) =>
    before.programs && !after.programs ? [detail("effect.programsFail")] : [],
};

const centreMay = {
  view: "effect.centreViews",
  control: "effect.centreControls",
  administrator: "effect.centreChanges",
} as const;

type RemoteWrite = Config["history"]["remoteWrite"];

function remoteWriteEffects(before: RemoteWrite, after: RemoteWrite): Detail[] {
  if (isDeepStrictEqual(before, after)) return [];
  const host = new URL((after ?? before)?.url ?? "").host;
  return [
    after === undefined
      ? detail("effect.remoteWriteEnds", { host })
      : detail("effect.remoteWrite", { host, seconds: after.interval }),
  ];
}

type Named = { readonly name: string };

const namesOf = (all: readonly Named[]): string => all.map(({ name }) => name).join(", ");

/** The names that are no longer among them; "" for none. */
function goneFrom(before: readonly Named[], after: readonly Named[]): string {
  const left = new Set(after.map(({ name }) => name));
  return namesOf(before.filter(({ name }) => !left.has(name)));
}

function loopEffects(what: "heating" | "follow", before: readonly Named[], after: readonly Named[]): Detail[] {
  const earlier = new Map(before.map((each) => [each.name, each]));
  const begins = after.filter(({ name }) => !earlier.has(name));
  const changes = after.filter((each) => earlier.has(each.name) && !isDeepStrictEqual(earlier.get(each.name), each));
  const ends = goneFrom(before, after);
  return [
    ...(begins.length === 0 ? [] : [detail(`effect.${what}Begins`, { names: namesOf(begins) })]),
    ...(ends === "" ? [] : [detail(`effect.${what}Ends`, { names: ends })]),
    ...(changes.length === 0 ? [] : [detail(`effect.${what}Changes`, { names: namesOf(changes) })]),
  ];
}
