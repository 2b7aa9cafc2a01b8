import { notYet } from "../contract/problems.ts";
import type { MiningService } from "../contract/service.ts";

type BulkOperations = Pick<MiningService, "startBulkAction" | "getBulkAction" | "cancelBulkAction">;

/** Actions for many miners, as jobs that survive a restart. */
export class BulkActions implements BulkOperations {
  startBulkAction = async () => Promise.reject(notYet("Bulk actions"));
  getBulkAction = async () => Promise.reject(notYet("Bulk actions"));
  cancelBulkAction = async () => Promise.reject(notYet("Bulk actions"));

  /** Goes on with what the last run left; call once all miners are there. */
  resume(): void {}

  async close(): Promise<void> {}
}
