import type { Duplex } from "node:stream";
import type { MiningService } from "../contract/service.ts";
import { type ConnectOptions, connectOver } from "./connect.ts";
import { nodePlatform } from "./node-platform.ts";

/**
 * A mining service whose connections `dial` opens, each for one request. `options.name` stands for its address in errors.
 */
export const connectThrough = (
  dial: () => Duplex,
  { name, ...options }: Omit<ConnectOptions, "url"> & { readonly name: string },
): MiningService => connectOver({ ...nodePlatform(dial), origin: name }, { ...options, name, url: "http://localhost" });
