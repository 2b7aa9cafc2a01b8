import { operationNames } from "../../contract/operations.ts";
import type { Caller } from "../../contract/service.ts";
import type { About } from "../../contract/session.ts";
import type { Store } from "../../store/index.ts";
import type { Sections } from "../settings/live-settings.ts";
import { type AccessBook, mayCall } from "./access.ts";

export interface AboutContext {
  readonly store: Store;
  readonly accessBook: AccessBook;
  readonly settings: Sections<"display">;
  /** Whether there are only demo miners. */
  readonly isDemo: () => boolean;
  /** Epoch ms. */
  readonly now: () => number;
}

/** The caller's rights, and the facts about the service that a page needs. */
export function aboutCaller(
  { store, accessBook, settings: { display }, isDemo, now }: AboutContext,
  caller: Caller,
): About {
  const access = accessBook.of(caller);
  const user = caller.userId === undefined ? undefined : store.users.get(caller.userId);
  const timeZone = display.timeZone ?? Intl.DateTimeFormat().resolvedOptions().timeZone;
  return {
    user: {
      id: user?.id ?? null,
      name: user?.name ?? null,
      privilege: access.privilege,
      sees: access.all ? "all" : "some",
    },
    display: { locale: display.locale, currency: display.currency, timeZone },
    demo: isDemo(),
    operations: operationNames.filter((name) => mayCall(access, name)),
    ...(access.all ? { instance: store.instance, time: new Date(now()).toISOString() } : {}),
  };
}
