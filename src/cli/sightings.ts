import { type Command, InvalidArgumentError } from "commander";
import { RigbridgeError } from "../contract/problems.ts";
import type { Sighting } from "../contract/sightings.ts";
import { describeRig } from "../link/scan.ts";
import { failing } from "./failure.ts";
import { placeNamed } from "./places.ts";
import { caller, type ServiceOptions, serviceCommand, withService } from "./service-options.ts";
import { fittedTable, printable } from "./table.ts";

interface SightingsOptions extends ServiceOptions {
  readonly place?: string;
  readonly row?: number;
  readonly column?: number;
  readonly json?: true;
}

export function sightingsCommand(): Command {
  return serviceCommand(
    "sightings",
    "rigbridge sightings",
    "rigbridge sightings 7 --place Texas/B1/R07 --row 2 --column 3",
  )
    .description(
      "Lists the rigs that reports, leases and ARP point to, or adds the rig of one to a place: a rig that has moved gets its new address.",
    )
    .argument("[id]", "id of the sighting whose rig is added, moved or placed", numberIn)
    .option("--place <place>", "path or id of its place")
    .option("--row <number>", "its row there, from 1", numberIn)
    .option("--column <number>", "its column there, from 1", numberIn)
    .option("--json", "print the sightings as JSON")
    .action(failing(sightings));
}

function numberIn(text: string): number {
  const number = /^\d{1,10}$/.test(text) ? Number(text) : 0;
  if (number < 1) throw new InvalidArgumentError("It must be a whole number from 1.");
  return number;
}

async function sightings(id: number | undefined, options: SightingsOptions): Promise<void> {
  const { place, row, column, json, ...service } = options;
  if ((row === undefined) !== (column === undefined))
    throw new RigbridgeError("input.invalid", "A position needs --row and --column");
  if (id === undefined && (place !== undefined || row !== undefined))
    throw new RigbridgeError("input.invalid", "Give the id of a sighting; `rigbridge sightings` lists them");
  await withService(service, async (running) => {
    if (id === undefined) {
      const list = await running.listSightings({}, caller);
      if (json) console.log(JSON.stringify(list, null, 2));
      else console.log(list.length === 0 ? "No rig was sighted; see docs/places.md." : sightingTable(list).join("\n"));
      return;
    }
    const placeId = place === undefined ? undefined : placeNamed(await running.listPlaces({}, caller), place).id;
    const miner = await running.placeSighting(
      {
        id,
        ...(placeId === undefined ? {} : { placeId }),
        ...(row === undefined || column === undefined ? {} : { position: { row, column } }),
      },
      caller,
    );
    console.log(`${printable(miner.name)} is miner ${miner.id}${place === undefined ? "" : ` in ${printable(place)}`}`);
  });
}

const heads = ["Id", "Address", "Rig", "MAC", "Miner", "Was at"];

/** Sightings as lines of a table, the heads first. */
export const sightingTable = (list: readonly Sighting[]): string[] =>
  fittedTable(
    heads,
    list.map(({ id, address, identity, name, movedFrom }) => [
      `${id}`,
      address,
      describeRig(identity),
      identity.mac ?? "",
      name ?? "new",
      movedFrom ?? "",
    ]),
    { flexible: [2, 4] },
  );
