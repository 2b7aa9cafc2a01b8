import { withoutActions } from "../../contract/may-act.ts";
import { type OperationName, operationNames, operations } from "../../contract/operations.ts";
import { withoutSecrets } from "../../contract/secrets.ts";
import type { Caller, CallName, MiningService } from "../../contract/service.ts";
import { type AccessBook, needsAll } from "./access.ts";

export type Calls = Pick<MiningService, CallName>;

/** Operations on the service as a whole: miners of every user may be switched to a pool's wallet, for example. */
const wholeServiceOperations: ReadonlySet<OperationName> = new Set([
  "savePool",
  "deletePool",
  "savePoolGroup",
  "deletePoolGroup",
  "saveHost",
  "deleteHost",
  "saveManagedMiner",
  "deleteManagedMiner",
  "saveCoin",
  "deleteCoin",
  "saveManagedTemplate",
  "deleteManagedTemplate",
  "addGroup",
  "changeGroup",
  "deleteGroup",
  "saveUser",
  "deleteUser",
  "startDiscovery",
  "getDiscovery",
  "cancelDiscovery",
]);

/** Checks whether a caller may use an operation at all. Throws `not.found` for an unknown user, `user.forbidden`. */
export const accessCheck =
  (accessBook: AccessBook) =>
  (name: OperationName, caller: Caller): void => {
    accessBook.check(name, caller);
    if (wholeServiceOperations.has(name)) needsAll(accessBook.of(caller));
  };

/**
 * Checks the access to every operation, and hides secrets and actions from callers that may only view. `withUserName`
 * gives the caller the name that the audit shows.
 */
export function guarded(
  calls: Calls,
  accessBook: AccessBook,
  check: (name: OperationName, caller: Caller) => void,
  withUserName: (caller: Caller) => Caller,
): Calls {
  const checked = operationNames.flatMap((name) => {
    if (name === "watchEvents") return [];
    const method = calls[name];
    return [
      [
        name,
        async (input: never, caller: Caller) => {
          check(name, caller);
          const reply = await method(input, withUserName(caller));
          return accessBook.of(caller).privilege === "view"
            ? withoutActions(withoutSecrets(operations[name].reply, reply))
            : reply;
        },
      ] as const,
    ];
  });
  return Object.fromEntries(checked) as unknown as Calls;
}
