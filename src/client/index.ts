import type { MiningService } from "../contract/service.ts";
import { type ConnectOptions, connectOver } from "./connect.ts";
import { nodePlatform } from "./node-platform.ts";

export * from "./exports.ts";
export type { ConnectOptions };

/**
 * A mining service over HTTP: another Rigbridge, or a foreign server. Connects on the first call.
 *
 * A foreign server's miners are completed to the full contract: readings come from the `...Value` fields, otherwise
 * from the display strings; missing values are null, and energy always is. If a watched server dies or hangs, its
 * watchers' `reach` is called within two polls; after three, each of its miners is reported once as Disconnected,
 * without readings; when it is back, they are reported again, or the stream sends `reset`. A watcher continues from the
 * lists that the same actor received last.
 *
 * Throws `input.invalid` if the URL or the locale is invalid; calls reject with a RigbridgeError that contains no key.
 */
export const connectService = (options: ConnectOptions): MiningService => connectOver(nodePlatform(), options);
