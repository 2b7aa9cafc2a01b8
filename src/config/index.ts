/** The configuration: from YAML with every mistake named, checked, and described for editors. */

export { exposed } from "./cross-checks.ts";
export { defaultConfig } from "./defaults.ts";
export type { Environment } from "./environment.ts";
export { configSchema } from "./json-schema.ts";
export { didYouMean } from "./nearest.ts";
export { checkedConfig, type ReadConfig, readConfig } from "./read.ts";
export { Config, type HttpSettings, type MinerSettings } from "./schema.ts";
