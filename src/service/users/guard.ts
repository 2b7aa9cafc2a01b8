import { withoutActions } from "../../contract/may-act.ts";
import { type OperationName, operationNames, operations } from "../../contract/operations.ts";
import { withoutSecrets } from "../../contract/secrets.ts";
import type { Caller, CallName, MiningService } from "../../contract/service.ts";
import { type AccessBook, needsAll } from "./access.ts";

export type Calls = Pick<MiningService, CallName>;

/** What changes the service as a whole: a pool's wallet, say, is where everybody's miners may be sent next. */
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

/** Whether a caller may ask for an operation at all. Throws `not.found` for an unknown user, `user.forbidden`. */
export const accessCheck =
  (accessBook: AccessBook) =>
  (name: OperationName, caller: Caller): void => {
    accessBook.check(name, caller);
    if (wholeServiceOperations.has(name)) needsAll(accessBook.of(caller));
  };

/**
 * Nobody gets to an operation that is not for them, and whoever may only look is shown no secret and nothing that could
 * be done; `named` says for the audit through whose eyes a caller looks.
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
