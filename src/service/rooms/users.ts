import { reportDisabled } from "../automation/rights.ts";
import type { Core } from "../core.ts";
import type { ServiceRoom } from "../room.ts";
import { aboutCaller } from "../users/about.ts";
import { keyHolders, userOperations } from "../users/users.ts";
import type { Miners } from "./miners.ts";

/** Users, and what each may do. */
export function openUsers({ config, store, accessBook, events }: Core, { registry, notices }: Miners) {
  const report = (): void => reportDisabled(store, accessBook, (title, message) => notices.setWarning(title, message));
  const context = { store, accessBook, display: config.display, isDemo: () => registry.isDemoOnly };
  return {
    operations: userOperations({
      store,
      accessBook,
      serviceKey: config.http.key,
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
