/** The configuration: from YAML with every mistake named, checked, and described for editors. */

export { didYouMean } from "../contract/nearest.ts";
export { exposed } from "./cross-checks.ts";
export { defaultConfig } from "./defaults.ts";
export type { Environment } from "./environment.ts";
export { configSchema } from "./json-schema.ts";
export { checkedConfig, type ReadConfig, readConfig } from "./read.ts";
export { Config, type HttpSettings, type MinerSettings } from "./schema.ts";
export { sentence } from "./sentence.ts";
