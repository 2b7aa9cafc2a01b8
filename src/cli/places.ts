import { type Command, InvalidArgumentError } from "commander";
import { csvOf } from "../contract/csv.ts";
import { hashUnit } from "../contract/hash-unit.ts";
import { placedTable } from "../contract/imports.ts";
import { nearest } from "../contract/nearest.ts";
import type { Place } from "../contract/place-operations.ts";
import { RigbridgeError } from "../contract/problems.ts";
import { formatFor } from "../units/format.ts";
import { failing } from "./failure.ts";
import { caller, type ServiceOptions, serviceCommand, withService } from "./service-options.ts";
import { counted, fittedTable, printable } from "./table.ts";

interface PlacesOptions extends ServiceOptions {
  readonly csv?: true;
  readonly json?: true;
}

interface LocateOptions extends ServiceOptions {
  readonly seconds: number;
  readonly off?: true;
}

const format = formatFor({ locale: "en-US", currency: "USD" });

export function placesCommand(): Command {
  return serviceCommand("places", "rigbridge places", "rigbridge places --csv > places.csv")
    .description("Lists the sites, buildings, rows and racks of a running service, or its rigs by their places.")
    .option("--csv", "print the rigs by their places as a table that `rigbridge import` takes")
    .option("--json", "print the places as JSON, in SI units")
    .action(failing(places));
}

export function locateCommand(): Command {
  return serviceCommand("locate", "rigbridge locate Texas/B1/R07", "rigbridge locate Texas/B1/R07 --off")
    .description("Has the rigs of a place signal where they are, for some seconds.")
    .argument("<place>", "path or id of the place")
    .option("--seconds <number>", "until they stop, 1 to 3600", secondsIn, 60)
    .option("--off", "have them stop now")
    .action(failing(locate));
}

function secondsIn(text: string): number {
  const seconds = /^\d{1,4}$/.test(text) ? Number(text) : 0;
  if (seconds < 1 || seconds > 3_600) throw new InvalidArgumentError("It must be a whole number from 1 to 3600.");
  return seconds;
}

async function places({ csv, json, ...options }: PlacesOptions): Promise<void> {
  await withService(options, async (service) => {
    if (csv) process.stdout.write(csvOf(placedTable(await service.exportPlaces({}, caller))));
    else {
      const list = await service.listPlaces({}, caller);
      if (json) console.log(JSON.stringify(list, null, 2));
      else console.log(list.length === 0 ? "There are no places; see docs/places.md." : placeTable(list).join("\n"));
    }
  });
}

async function locate(wanted: string, { seconds, off, ...options }: LocateOptions): Promise<void> {
  await withService(options, async (service) => {
    const { id, path, rigs } = placeNamed(await service.listPlaces({}, caller), wanted);
    const job = await service.locatePlace({ id, on: off !== true, seconds }, caller);
    const state = off === true ? "off" : `on for ${seconds} s`;
    console.log(`Locate signal ${state}: ${counted(rigs, "rig")} in ${printable(path)} (action ${job.id})`);
  });
}

type NamedPlace = Pick<Place, "id" | "path">;

/** By path in any case, then by id. Throws `not.found` with the nearest path, `input.invalid` if several have the path. */
export function placeNamed<P extends NamedPlace>(list: readonly P[], wanted: string): P {
  const [named, another] = list.filter(({ path }) => path.toLowerCase() === wanted.toLowerCase());
  if (another !== undefined)
    throw new RigbridgeError(
      "input.invalid",
      `Several places are named "${wanted}"; use an id of \`rigbridge places --json\``,
    );
  const found = named ?? list.find(({ id }) => String(id) === wanted);
  if (found !== undefined) return found;
  const meant = nearest(
    wanted,
    list.map(({ path }) => path),
  );
  const advice = meant === undefined ? "`rigbridge places` lists them" : `did you mean "${meant}"?`;
  throw new RigbridgeError("not.found", `There is no place "${wanted}"; ${advice}`);
}

type ListedPlace = Pick<Place, "kind" | "name" | "path" | "rigs" | "mining" | "power" | "hashrates" | "alarms">;

const heads = ["Place", "", "Rigs", "Mining", "Hash rate", "Power", "Alarms"];

/** Places as lines of a table, each indented below the one that it is in; unknown values are empty. */
export const placeTable = (
  list: readonly (ListedPlace & { readonly id: number; readonly parentId: number | null })[],
) => {
  const depths = new Map<number | null, number>([[null, 0]]);
  const rows = list.map(({ id, parentId, kind, name, rigs, mining, power, hashrates, alarms }) => {
    const depth = depths.get(parentId) ?? 0;
    depths.set(id, depth + 1);
    const rates = hashrates.map(({ algorithm, hashrate }) => format.hashrate(hashrate, hashUnit(algorithm)));
    const watts = power === null ? "" : format.power(power);
    return [`${"  ".repeat(depth)}${name}`, kind, `${rigs}`, `${mining}`, rates.join(" + "), watts, `${alarms}`];
  });
  return fittedTable(heads, rows, { flexible: [0] });
};
