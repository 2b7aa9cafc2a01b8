import type { ManagedMiner, MiningSoftware } from "../../../contract/resources.ts";
import { isObject, type Json, type Schema } from "../../parts/schema-form/schema.ts";
import type { HostLimits } from "./host-choices.ts";

interface Named<Id> {
  readonly id: Id;
  readonly name: string;
}

interface NamedHost extends Named<number> {
  readonly limits: HostLimits | null;
}

/** The choices for a managed miner. */
export interface Catalogue {
  readonly hosts: readonly NamedHost[];
  readonly groups: readonly Named<number>[];
  readonly software: readonly MiningSoftware[];
  readonly algorithms: readonly Named<string>[];
  /** Pools and pool groups by `poolRef`. */
  readonly pools: readonly Named<string>[];
}

/** "p12" for a pool, "g3" for a pool group; "" without a pool. */
export const poolRef = ({ poolId, isPoolGroup }: Pick<ManagedMiner, "poolId" | "isPoolGroup">): string =>
  poolId === 0 ? "" : `${isPoolGroup ? "g" : "p"}${poolId}`;

export const poolOf = (ref: string): { readonly poolId: number; readonly isPoolGroup: boolean } => ({
  poolId: Number(ref.slice(1)) || 0,
  isPoolGroup: ref.startsWith("g"),
});

/** The initial values of a new managed miner. */
export const blankMiner: ManagedMiner = {
  id: 0,
  description: "",
  hostId: 0,
  isPoolGroup: false,
  poolId: 0,
  commandLineParams: "",
  softwareAutoDownload: true,
  softwareType: "",
  softwarePath: "",
  algorithm: "",
  dualAlgorithm: "",
  note: null,
  uid: null,
  groupId: 0,
  running: null,
  status: null,
  addedPools: [],
  gpuSettings: [],
  idle: null,
  switching: null,
};

/** The settings besides its program, in the form of the schema: unset ones are absent. */
export function extrasOf({ gpuSettings, idle, switching }: ManagedMiner): Readonly<Record<string, Json>> {
  const given = (value: object): Record<string, Json> =>
    Object.fromEntries(Object.entries(value).filter(([, each]) => each !== null && each !== ""));
  return {
    ...(gpuSettings.length === 0 ? {} : { gpuSettings: gpuSettings.map(given) }),
    ...(switching === null
      ? {}
      : {
          switching: {
            ...switching,
            choices: switching.choices.map(({ isPoolGroup, poolId, ...choice }) => ({
              ...given(choice),
              poolId: poolRef({ poolId, isPoolGroup }),
            })),
          },
        }),
    ...(idle === null ? {} : { idle: given(idle) }),
  };
}

/** Converts them back to the form of the API. */
export function bodyOf(extras: Json): Readonly<Record<"gpuSettings" | "idle" | "switching", Json>> {
  const { gpuSettings = [], idle = null, switching = null } = isObject(extras) ? extras : {};
  if (!isObject(switching) || !Array.isArray(switching.choices)) return { gpuSettings, idle, switching };
  const choices = switching.choices.map((choice: Json) =>
    isObject(choice) ? { ...choice, ...poolOf(String(choice.poolId ?? "")) } : choice,
  );
  return { gpuSettings, idle, switching: { ...switching, choices } };
}

/** The schema without one of its properties. */
export function without(schema: Schema, name: string): Schema {
  const { [name]: _, ...properties } = schema.properties ?? {};
  return { ...schema, properties };
}

/** The schema for several hosts: settings of graphics cards are for all of a host, as slots differ. */
export function forAllCards(schema: Schema): Schema {
  const { gpuSettings, ...properties } = schema.properties ?? {};
  if (gpuSettings?.items === undefined) return schema;
  return {
    ...schema,
    properties: { ...properties, gpuSettings: { ...gpuSettings, items: without(gpuSettings.items, "bus") } },
  };
}

/** The schema with existing names in place of ids: a pool is chosen by its name. */
export function withChoices(schema: Schema, { algorithms, pools, software }: Catalogue): Schema {
  const choice = (list: readonly Named<string>[]) => ({ type: "string", enum: list.map(({ id }) => id) });
  const replaced = (value: unknown): unknown => {
    if (Array.isArray(value)) return value.map(replaced);
    if (!isObject(value)) return value;
    const { properties } = value;
    if (!isObject(properties) || !("poolId" in properties))
      return Object.fromEntries(Object.entries(value).map(([key, each]) => [key, replaced(each)]));
    const { isPoolGroup: _, ...kept } = properties;
    return {
      ...value,
      properties: {
        ...kept,
        algorithm: choice(algorithms),
        poolId: choice(pools),
        softwareType: choice(software),
      },
    };
  };
  // Only choices within it change.
  return replaced(schema) as Schema;
}
