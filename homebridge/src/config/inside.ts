import { type JsonObject, listOf, recordOf } from "./json.ts";
import { insideOnly } from "./schema.ts";

/** Passed to the service unchanged. */
const passedOn = [...insideOnly.filter((key) => key !== "heating"), "offlineExpected"];

export interface InsideConfig {
  /** For `Config` of rigbridge; not checked yet, since the settings may have mistakes. */
  readonly config: JsonObject;
  /** Translates a path in `config` to the one in the settings. */
  readonly pathOf: (path: string) => string;
}

/** The configuration of the service inside the plugin, from the settings as written. */
export function insideConfig({ rigs: written }: JsonObject): InsideConfig {
  const rigs = listOf(written).map(recordOf);
  const heaters = rigs.flatMap((rig, index) => (rig.heating === undefined ? [] : [{ rig, index }]));
  const groups = new Set(rigs.map(({ group }) => group).filter((group) => typeof group === "string"));
  const config = {
    miners: rigs.map((rig) => ({ ...picked(rig, passedOn), ...nameIn(rig) })),
    groups: [...groups].map((name) => ({ name })),
    heating: heaters.map(({ rig }) => ({ ...recordOf(rig.heating), miner: nameIn(rig).name })),
  };
  const pathOf = (path: string): string =>
    path.replace(/^miners\[/, "rigs[").replace(/^heating\[(\d+)\](\.miner\b)?/, (whole, place, miner) => {
      const index = heaters[Number(place)]?.index;
      if (index === undefined) return whole;
      return miner === undefined ? `rigs[${index}].heating` : `rigs[${index}].name`;
    });
  return { config, pathOf };
}

/** A room finds its rig by name, so a heater without a name gets that of its room. */
function nameIn({ name, heating }: JsonObject): JsonObject {
  const found = name ?? recordOf(heating).name;
  return found === undefined ? {} : { name: found };
}

const picked = (from: JsonObject, keys: readonly string[]): JsonObject =>
  Object.fromEntries(keys.flatMap((key) => (from[key] === undefined ? [] : [[key, from[key]]])));
