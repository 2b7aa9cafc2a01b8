import { type JsonObject, listOf, recordOf } from "./json.ts";
import { ofRigsInside } from "./schema.ts";

/** What goes to the service inside as it stands. */
const handedOn = [...ofRigsInside.filter((key) => key !== "heating"), "offlineExpected"];

export interface InsideConfig {
  /** As `Config` of rigbridge takes it; not checked yet, since it is made of settings that may have mistakes. */
  readonly config: JsonObject;
  /** Where in our settings stands what it calls by this path. */
  readonly pathOf: (path: string) => string;
}

/** The configuration of the service inside, from our settings as they were written. */
export function insideConfig({ rigs: written }: JsonObject): InsideConfig {
  const rigs = listOf(written).map(recordOf);
  const heated = rigs.flatMap((rig, index) => (rig.heating === undefined ? [] : [{ rig, index }]));
  const groups = new Set(rigs.map(({ group }) => group).filter((group) => typeof group === "string"));
  const config = {
    miners: rigs.map((rig) => ({ ...picked(rig, handedOn), ...named(rig) })),
    groups: [...groups].map((name) => ({ name })),
    heating: heated.map(({ rig }) => ({ ...recordOf(rig.heating), miner: named(rig).name })),
  };
  const pathOf = (path: string): string =>
    path.replace(/^miners\[/, "rigs[").replace(/^heating\[(\d+)\](\.miner\b)?/, (whole, place, miner) => {
      const index = heated[Number(place)]?.index;
      if (index === undefined) return whole;
      return miner === undefined ? `rigs[${index}].heating` : `rigs[${index}].name`;
    });
  return { config, pathOf };
}

/** A room finds its rig by name, so a heater without one is called as its room. */
function named({ name, heating }: JsonObject): JsonObject {
  const called = name ?? recordOf(heating).name;
  return called === undefined ? {} : { name: called };
}

const picked = (from: JsonObject, keys: readonly string[]): JsonObject =>
  Object.fromEntries(keys.flatMap((key) => (from[key] === undefined ? [] : [[key, from[key]]])));
