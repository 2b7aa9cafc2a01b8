import type { Reference } from "../../../contract/form-kind.ts";
import { everySite, hereName } from "../../../contract/runs-at.ts";
import { call } from "../../api.ts";
import { number } from "../../format.ts";
import { t } from "../../language.ts";
import { type Row, rigs, sites } from "../../live.ts";
import type { Choice, Directory } from "../../parts/schema-form/context.ts";
import { isObject, type Json } from "../../parts/schema-form/schema.ts";
import { may } from "../../session.ts";

/** What rules may name, without what the list of rigs says; a list that this user may not see is undefined. */
export type References = Readonly<Partial<Record<Reference | "poolGroupId", readonly Choice[] | undefined>>>;

const byOwnName = ({ name }: { readonly name: string }): Choice => ({ value: name, name });
const byId = ({ id, name }: { readonly id: string | number; readonly name: string }): Choice => ({ value: id, name });

/** Asks for what this user may see of them. */
export async function readReferences(signal: AbortSignal): Promise<References> {
  const [groups, pools, poolGroups, templates, rules, channels, software, algorithms] = await Promise.all([
    may("listGroups") ? call("listGroups", {}, { signal }) : undefined,
    may("listPools") ? call("listPools", {}, { signal }) : undefined,
    may("listPoolGroups") ? call("listPoolGroups", {}, { signal }) : undefined,
    may("listManagedTemplates") ? call("listManagedTemplates", {}, { signal }) : undefined,
    may("listRules") ? call("listRules", {}, { signal }) : undefined,
    may("listChannels") ? call("listChannels", {}, { signal }) : undefined,
    may("listMiningSoftware") ? call("listMiningSoftware", {}, { signal }) : undefined,
    may("listAlgorithms") ? call("listAlgorithms", {}, { signal }) : undefined,
  ]);
  const named = pools?.list.map(({ id, description, url }) => ({ id, description, name: description || url }));
  return {
    group: groups?.map(byOwnName),
    // A pool is named by its description.
    pool: named?.filter(({ description }) => description !== "").map(byOwnName),
    poolId: named?.map(byId),
    poolGroup: poolGroups?.map(byOwnName),
    poolGroupId: poolGroups?.map(byId),
    template: templates?.managedTemplateList.map(byOwnName),
    rule: rules?.rules.map(({ key, name }) => ({ value: key, name })),
    channel: channels && [
      { value: "all", name: t.rules.allChannels },
      ...channels.map(({ key }) => ({ value: key, name: key })),
    ],
    software: software?.map(byId),
    algorithm: algorithms?.map(byId),
  };
}

/** Boards whose switches are offered; rigs have fewer. */
const boards = 6;
const controls = [
  ...(["mining", "power_target", "power_limit", "throttle", "mode", "fan", "temperature_target"] as const),
  ...(["frequency", "voltage", "locate", "reboot", "restart"] as const),
] satisfies readonly (keyof typeof t.rig.control)[];

/** The name of a control: boards by their slot. */
export function controlName(key: string): string | undefined {
  const slot = /^board_(\d+)$/.exec(key)?.[1];
  if (slot !== undefined) return t.rig.board({ slot: number(Number(slot)) });
  return Object.entries(t.rig.control).find(([each]) => each === key)?.[1];
}

/** The distinct values of all rigs. */
function ofRigs(values: (row: Row) => readonly (string | null | undefined)[]): string[] {
  const found = new Set<string>();
  for (const row of rigs.value.byId.values())
    for (const each of values(row)) if (each !== null && each !== undefined && each !== "") found.add(each);
  return [...found];
}

const listed = (choices: readonly Choice[], isOpen = false): Directory => ({
  choices: () => choices,
  nameOf: (value) => choices.find((each) => String(each.value) === value)?.name,
  isOpen,
});
const openList = (values: readonly string[]): Directory =>
  listed(
    values.map((name) => ({ value: name, name })),
    true,
  );

/** The rigs of the page's own list, which are never fetched for this. */
const ofMiners: Directory = {
  choices: () => ofRigs(({ name }) => [name]).map((name) => ({ value: name, name })),
  nameOf: (value) => {
    for (const { name, uid } of rigs.value.byId.values()) if (name === value || uid === value) return name;
    // A MAC, which only the rig itself reports.
    return /^[0-9a-f]{12}$/.test(value) ? value : undefined;
  },
};

/** What a value may name; null if it is not known here. */
export function directoryOf(references: References, of: Reference, parent: Json): Directory | null {
  switch (of) {
    case "miner":
      return rigs.value.loaded ? ofMiners : null;
    case "tag":
      return openList(ofRigs(({ tags }) => tags));
    case "site":
      return openList(ofRigs(({ location }) => [location?.site]));
    case "runsAt":
      return listed([
        { value: hereName, name: t.rules.here },
        { value: everySite, name: t.rules.everySite },
        ...sites.value.map(({ name }) => ({ value: name, name })),
      ]);
    case "rack":
      return openList(ofRigs(({ location }) => [location?.rack]));
    case "control":
      return {
        choices: () =>
          [...controls, ...Array.from({ length: boards }, (_, slot) => `board_${slot}`)].map((key) => ({
            value: key,
            name: controlName(key) ?? key,
          })),
        nameOf: controlName,
      };
    default: {
      const isGroup = of === "poolId" && isObject(parent) && parent.pool_type === "group";
      const choices = references[isGroup ? "poolGroupId" : of];
      return choices === undefined ? null : listed(choices);
    }
  }
}

/** Keys of rules and schedules that are only for a service with other sites. */
export const ofSites = (): string[] => (sites.value.length === 0 ? ["runsAt"] : []);
