import { isDeepStrictEqual } from "node:util";
import type { Config } from "../../config/schema.ts";
import type { SettingsSection } from "../../contract/settings.ts";

/** The effects of changing a section, as sentences shown before it is saved. */
export function effectsOf(section: SettingsSection, before: Config, after: Config): string[] {
  if (isDeepStrictEqual(before[section], after[section])) return [];
  return effects[section]?.(before, after) ?? [];
}

type Effects = (before: Config, after: Config) => string[];

const effects: Partial<Record<SettingsSection, Effects>> = {
  display: ({ display: before }, { display: after }) => [
    ...(before.currency === after.currency
      ? []
      : [`Amounts are shown and counted in ${after.currency}; those of past days stay in ${before.currency}`]),
    ...(before.timeZone === after.timeZone ? [] : ["Days, schedules and quiet hours follow the new time zone"]),
  ],
  poll: ({ poll: before }, { poll: after }) => {
    const [from, to] = [before.interval, after.interval];
    if (from === to) return [];
    return [`Rigs without an interval of their own are read every ${to} s instead of every ${from} s`];
  },
  heating: ({ heating: before }, { heating: after }) => loopEffects("heating", before, after),
  follow: ({ follow: before }, { follow: after }) => loopEffects("following of the surplus", before, after),
  mqtt: ({ mqtt: before }, { mqtt: after }) => {
    if (after === undefined) return ["The MQTT bridge stops, and Home Assistant shows its entities as unavailable"];
    if (before === undefined) return ["The MQTT bridge starts"];
    const moves = before.base === after.base ? [] : [`Its topics move from ${before.base} to ${after.base}`];
    return ["The MQTT bridge reconnects", ...moves];
  },
  http: ({ http: before }, { http: after }) => {
    if (before.key === after.key) return [];
    const who = after.open ? "every client is admitted" : "only this machine is served";
    if (after.key === undefined) return [`A key is no longer needed: ${who}`];
    const former = before.key === undefined ? "a key" : "the new key";
    return [`Clients and browsers need ${former} from now on, other than users with keys of their own`];
  },
  scan: (_before, { scan: after }) =>
    after?.every === undefined
      ? ["Networks are searched on request only"]
      : [`Networks are searched every ${after.every} s`],
  logins: ({ logins: before }, { logins: after }) => {
    const left = new Set(after.map(({ name }) => name));
    const gone = before.flatMap(({ name }) => (left.has(name) ? [] : [name]));
    return gone.length === 0 ? [] : [`Rigs that name one of these logins are read without a login: ${gone.join(", ")}`];
  },
  sites: ({ sites: before }, { sites: after }) => {
    const left = new Set(after.map(({ name }) => name));
    const gone = before.flatMap(({ name }) => (left.has(name) ? [] : [name]));
    return [
      ...(gone.length === 0 ? [] : [`The rigs of ${gone.join(", ")} are no longer shown here; they go on as before`]),
      "The service restarts within a second, and connects to its sites again",
    ];
  },
  centre: (_before, { centre: after }) =>
    after === undefined
      ? ["The centre no longer sees this service"]
      : [`This service connects to ${after.url}, and users there may ${mayDo[after.privilege]} here`],
  history: ({ history: before }, { history: after }) => [
    ...(after.raw < before.raw ? [`Samples older than ${after.raw} days are deleted`] : []),
    ...(after.hourly < before.hourly ? [`Hourly means older than ${after.hourly} days are deleted`] : []),
  ],
  automation: ({ automation: before }, { automation: after }) =>
    before.programs && !after.programs ? ["Rules that run programs of this machine fail at that step"] : [],
};

const mayDo = {
  view: "see the rigs",
  control: "control the rigs",
  administrator: "change everything",
} as const;

type Named = { readonly name: string };

function loopEffects(what: string, before: readonly Named[], after: readonly Named[]): string[] {
  const [earlier, later] = [before, after].map((all) => new Map(all.map((each) => [each.name, each])));
  const names = (all: readonly Named[]): string => all.map(({ name }) => name).join(", ");
  const [begins, ends, changes] = [
    after.filter(({ name }) => earlier?.has(name) === false),
    before.filter(({ name }) => later?.has(name) === false),
    after.filter((each) => {
      const was = earlier?.get(each.name);
      return was !== undefined && !isDeepStrictEqual(was, each);
    }),
  ];
  return [
    ...(begins.length === 0 ? [] : [`The ${what} begins: ${names(begins)}`]),
    ...(ends.length === 0 ? [] : [`The ${what} ends, and its rigs stay as they are: ${names(ends)}`]),
    ...(changes.length === 0 ? [] : [`The ${what} goes on with other settings: ${names(changes)}`]),
  ];
}
