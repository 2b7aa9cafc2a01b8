import { notYet } from "../contract/problems.ts";
import type { MiningService } from "../contract/service.ts";

type DiscoveryOperations = Pick<MiningService, "startDiscovery" | "getDiscovery" | "cancelDiscovery">;

/** Searches for rigs, asked for or by the configuration's `scan`. */
export class Discoveries implements DiscoveryOperations {
  startDiscovery = async () => Promise.reject(notYet("Discovery"));
  getDiscovery = async () => Promise.reject(notYet("Discovery"));
  cancelDiscovery = async () => Promise.reject(notYet("Discovery"));

  start(): void {}

  async close(): Promise<void> {}
}
