import type { MiningService } from "../contract/service.ts";
import { type ConnectOptions, connectOver } from "./connect.ts";
import { fetchPlatform } from "./fetch-platform.ts";

export * from "./exports.ts";
export type { ConnectOptions };

/** As in `index.ts`, with what a browser has instead of Node. */
export const connectService = (options: ConnectOptions): MiningService => connectOver(fetchPlatform, options);
