import { existsSync } from "node:fs";
import { dirname, join } from "node:path";
import { Option } from "commander";
import { defaultConfig, isDatabaseUrl, type ReadConfig, readConfig } from "../config/index.ts";
import { RigbridgeError } from "../contract/problems.ts";
import { defaultFile } from "./default-files.ts";

/** Where a service has its configuration and its store. */
export interface PlaceOptions {
  /** The configuration file; absent: the default one if it exists. */
  readonly config?: string;
  /** The folder of the store or, if that is a database, of other files; of the configuration unless `config` names it. */
  readonly data?: string;
}

export const placeOptions = (): Option[] => [
  new Option("--config <file>", `configuration file of the service (default: ${defaultFile}, if it exists)`),
  new Option("--data <folder>", `folder of the store, and of ${defaultFile} if there is one`),
];

/** The configuration file of a service, and where one would be; null if there is none. */
export function configFileOf({ config, data }: PlaceOptions): { readonly file: string | null; readonly usual: string } {
  const usual = join(data ?? "", defaultFile);
  return { file: config ?? (existsSync(usual) ? usual : null), usual };
}

/** The store of a service without a configuration. */
export const storeWithoutConfig = (data: string | undefined): string =>
  data === undefined ? defaultConfig().store.url : join(data, "rigbridge.db");

/**
 * What the other files of a service lie beside: its store, or with a store in a database the place that one in a file
 * would have, in the folder `data` or that of the configuration file. ":memory:": it keeps none.
 */
export const filesBeside = (store: string, configFile: string, data: string | undefined): string =>
  isDatabaseUrl(store) ? join(data ?? dirname(configFile), "rigbridge.db") : store;

/** The file that keeps what a service has seen of the lease of its store. */
export const leaseFile = (files: string): string => `${files}.lease`;

/** The file of the key that `--make-key` makes. */
export const ownKeyFile = (store: string): string => join(dirname(store), "rigbridge.key");

/** What a command knows of a service from its files. `read`: null without a configuration. */
export interface ServicePlace {
  readonly read: ReadConfig | null;
  readonly store: string;
  /** What its other files lie beside. */
  readonly files: string;
}

/** Throws the mistakes of the configuration, and `config.invalid` for a store in memory. */
export async function servicePlace(options: PlaceOptions): Promise<ServicePlace> {
  const { file, usual } = configFileOf(options);
  const read = file === null ? null : await readConfig(file);
  const store = read?.config.store.url ?? storeWithoutConfig(options.data);
  if (store === ":memory:")
    throw new RigbridgeError("config.invalid", `store.url of ${file} is :memory:, so there is no file`);
  return { read, store, files: filesBeside(store, file ?? usual, options.data) };
}
