import { reportDisabled } from "../automation/rights.ts";
import type { Core } from "../core.ts";
import type { ServiceRoom } from "../room.ts";
import { aboutCaller } from "../users/about.ts";
import { keyHolders, userOperations } from "../users/users.ts";
import type { Miners } from "./miners.ts";

/** Users and their rights. */
export function openUsers({ settings, store, accessBook, events, now }: Core, { registry, notices }: Miners) {
  const report = (): void => reportDisabled(store, accessBook, (title, message) => notices.setWarning(title, message));
  const display = settings.part("what pages know of the service", ["display"]).now;
  const access = settings.part("the service's own key", ["http"]).now;
  settings.part("users of the file", ["users", "groups", "pools"]).onChange(() => {
    events.changed();
    report();
  });
  const context = { store, accessBook, settings: display, isDemo: () => registry.isDemoOnly, now };
  return {
    operations: userOperations({
      store,
      accessBook,
      serviceKey: () => access.http.key,
      changed: () => {
        events.changed();
        report();
      },
    }),
    direct: {
      about: async (caller) => aboutCaller(context, caller),
      checkAccess: (name, caller) => accessBook.check(name, caller),
      keyHolder: keyHolders(store),
    },
    start: report,
  } satisfies ServiceRoom;
}
