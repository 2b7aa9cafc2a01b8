import type { ProblemCode } from "../contract/problems.ts";
import type { Notification } from "../contract/resources.ts";
import { textIn } from "../messages/coded.ts";
import { language, t } from "./language.ts";

/** The service's English texts, in the page's language where the catalogue has them. */

/** A notification with its title and message; texts written by a user stay. */
export function inOwnWords(notification: Notification): Notification {
  if (language === "en") return notification;
  // A service of an earlier release, from which this page may still be open, sends no codes.
  const { title, message } = notification.coded ?? { title: null, message: null };
  const texts = { notices: t.service.notices, over: t.service.over };
  return {
    ...notification,
    title: (title && textIn(texts, title)) ?? notification.title,
    message: (message && textIn(texts, message)) ?? notification.message,
  };
}

/** Why a request was refused: the kind of problem in the page's language, followed by the English details. */
export function problemWords(code: string, details: string): string {
  const titles: Readonly<Record<string, string>> = t.service.problems satisfies Record<ProblemCode, string>;
  const title = Object.hasOwn(titles, code) ? titles[code] : undefined;
  return language === "en" || title === undefined ? details : `${title}: ${details}`;
}
