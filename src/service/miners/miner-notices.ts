import type { MinerEvent } from "../../contract/events.ts";
import { coded } from "../../messages/coded.ts";
import type { Format } from "../../units/format.ts";
import type { Notice } from "../notifications/notices.ts";

/** Keys of notifications about a miner; stored, so they never change. */
export const noticeKeys = {
  disconnected: (minerId: number) => `disconnected:${minerId}`,
  login: (minerId: number) => `login:${minerId}`,
  refused: (minerId: number) => `refused:${minerId}`,
  bestShare: (minerId: number) => `best-share:${minerId}`,
};

/** Best shares of a miner share one notification with a rising count; every block gets its own. */
export function recordNotice({ id: minerId, event, value, before }: MinerEvent, { grouped }: Format): Notice {
  const common = { minerId, source: "System", severity: "info" } as const;
  const values = { value: grouped(value), before: grouped(before) };
  return event === "best_share"
    ? {
        ...common,
        key: noticeKeys.bestShare(minerId),
        title: coded("notices.bestShare.title"),
        message: coded("notices.bestShare.message", values),
      }
    : {
        ...common,
        key: null,
        title: coded("notices.blockFound.title"),
        message: coded("notices.blockFound.message", values),
      };
}
