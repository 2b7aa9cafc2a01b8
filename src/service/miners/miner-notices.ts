import type { MinerEvent } from "../../contract/events.ts";
import type { Format } from "../../units/format.ts";
import type { Notice } from "../notifications/notices.ts";

/** Keys of notifications about a miner; stored, so they never change. */
export const noticeKeys = {
  disconnected: (minerId: number) => `disconnected:${minerId}`,
  login: (minerId: number) => `login:${minerId}`,
  refused: (minerId: number) => `refused:${minerId}`,
  bestShare: (minerId: number) => `best-share:${minerId}`,
};

/** A best share is one notification for each miner, whose count rises; every block is one of its own. */
export function recordNotice({ id: minerId, event, value, before }: MinerEvent, { grouped }: Format): Notice {
  const common = { minerId, source: "System", severity: "info" } as const;
  const was = `(before: ${grouped(before)})`;
  return event === "best_share"
    ? {
        ...common,
        key: noticeKeys.bestShare(minerId),
        title: "New best share",
        message: `Difficulty ${grouped(value)} ${was}`,
      }
    : { ...common, key: null, title: "Block found", message: `Blocks found: ${grouped(value)} ${was}` };
}
