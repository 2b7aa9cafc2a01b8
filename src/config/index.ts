/** The configuration: read from YAML with every mistake named, and described by a JSON Schema for editors. */

export { didYouMean } from "../contract/nearest.ts";
export { exposed } from "./cross-checks.ts";
export { isDatabaseUrl } from "./database-url.ts";
export type { Environment } from "./environment.ts";
export { configSchema } from "./json-schema.ts";
export { type ConfigFile, checkedConfig, type ReadConfig, readConfig, resolved } from "./read.ts";
export { Config, defaultConfig, type HttpSettings, type MinerSettings } from "./schema.ts";
export { sentence } from "./sentence.ts";
export { declaredProgram } from "./software.ts";
