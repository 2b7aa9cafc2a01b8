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
  return {
    ...notification,
    title: (title && textIn(t.service, title)) ?? notification.title,
    message: (message && textIn(t.service, message)) ?? notification.message,
  };
}

const found = <Value>(texts: Readonly<Record<string, Value>>, key: string): Value | undefined =>
  Object.hasOwn(texts, key) ? texts[key] : undefined;

interface ReadyMade {
  readonly key: string;
  readonly name: string;
  readonly description: string;
}

/** Name and description of a ready-made rule, with their language. */
export function readyMadeWords({ key, name, description }: ReadyMade): Omit<ReadyMade, "key"> & { lang: string } {
  const own = found(t.service.readyMade, key);
  return own === undefined ? { name, description, lang: "en" } : { ...own, lang: language };
}

/** Why a request was refused: the kind of problem in the page's language, followed by the English details. */
export function problemWords(code: string, details: string): string {
  const title = found(t.service.problems satisfies Record<ProblemCode, string>, code);
  return language === "en" || title === undefined ? details : `${title}: ${details}`;
}
