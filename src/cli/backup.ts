import { mkdir } from "node:fs/promises";
import { dirname } from "node:path";
import { Command } from "commander";
import { isDatabaseUrl } from "../config/database-url.ts";
import { RigbridgeError } from "../contract/problems.ts";
import { failing } from "./failure.ts";
import { examples } from "./service-options.ts";
import { type PlaceOptions, placeOptions, type ServicePlace, servicePlace } from "./store-place.ts";

/** Throws `config.invalid` for a store that is not a file. */
async function filePlace(options: PlaceOptions): Promise<ServicePlace> {
  const place = await servicePlace(options);
  if (isDatabaseUrl(place.store))
    throw new RigbridgeError(
      "config.invalid",
      "store.url is a PostgreSQL database; copy it with pg_dump, and bring it back with pg_restore while no service uses it",
    );
  return place;
}

/** The store is copied in this process, so a service that runs goes on reading rigs. */
export function backupCommand(): Command {
  return storeCommand("backup", "rigbridge backup rigbridge-2026-11-28.db --data /var/lib/rigbridge")
    .description("Copies the store to a new file, while the service runs or not.")
    .argument("<file>", "file to write")
    .action(failing(backup));
}

export function restoreCommand(): Command {
  return storeCommand("restore", "rigbridge restore rigbridge-2026-11-28.db --data /var/lib/rigbridge")
    .description("Replaces the store by a backup while the service is stopped, and keeps the old one beside it.")
    .argument("<file>", "backup, which stays as it is")
    .action(failing(restore));
}

function storeCommand(name: string, example: string): Command {
  const command = new Command(name).addHelpText("after", examples(example));
  for (const option of placeOptions()) command.addOption(option);
  return command;
}

async function backup(file: string, options: PlaceOptions): Promise<void> {
  const { store } = await filePlace(options);
  const { backUpStore, megabytes } = await import("../store/index.ts");
  const bytes = backUpStore(store, file);
  console.log(`${store} was copied to ${file} (${megabytes(bytes)}). It contains passwords: keep it secret.`);
}

async function restore(file: string, options: PlaceOptions): Promise<void> {
  const { store, read } = await filePlace(options);
  if (read === null) await mkdir(dirname(store), { recursive: true, mode: 0o700 });
  const { restoreStore } = await import("../store/index.ts");
  const kept = restoreStore(file, store);
  console.log(
    `${store} was restored from ${file}. ${kept === null ? "There was none before." : `The old one is ${kept}.`}`,
  );
}
