import type { ProblemCode } from "../contract/problems.ts";
import type { Notification } from "../contract/resources.ts";
import { textIn } from "../messages/coded.ts";
import type { CodedText } from "../messages/coded-text.ts";
import { detailText } from "./details.ts";
import { language, loadAllTexts, t } from "./language.ts";

/** The service's English texts, in the page's language where the catalogue has them. */

/** A notification with its title and message; texts written by a user stay. */
export function inOwnWords(notification: Notification): Notification {
  if (language === "en") return notification;
  // A service of an earlier release, from which this page may still be open, sends no codes.
  const { title, message } = notification.coded ?? { title: null, message: null };
  return {
    ...notification,
    title: (title && textOf(title)) ?? notification.title,
    message: (message && textOf(message)) ?? notification.message,
  };
}

/** Names only the parts that it needs: the first load contains the texts that its files name. */
const textOf = (text: CodedText): string | undefined =>
  textIn({ notices: t.service.notices, over: t.service.over }, text, detailText) ?? detailText(text);

const found = <Value>(texts: Readonly<Record<string, Value>>, key: string): Value | undefined =>
  Object.hasOwn(texts, key) ? texts[key] : undefined;

/**
 * Why a request was refused, in the page's language. Where there are only English details, the kind of problem stands
 * before them.
 */
export async function problemWords(code: string, english: string, own: string | undefined): Promise<string> {
  if (own !== undefined || language === "en") return own ?? english;
  // The kinds of problems are not among the texts of the first page.
  const isLoaded = await loadAllTexts().then(
    () => true,
    () => false,
  );
  const title = isLoaded ? found(t.service.problems satisfies Record<ProblemCode, string>, code) : undefined;
  return title === undefined ? english : `${title}: ${english}`;
}
