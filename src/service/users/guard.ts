import { withoutActions } from "../../contract/may-act.ts";
import { type OperationName, operationNames, operations } from "../../contract/operations.ts";
import { withoutSecrets } from "../../contract/secrets.ts";
import type { Caller, CallName, MiningService, StreamName } from "../../contract/service.ts";
import type { AccessBook } from "./access.ts";

export type Calls = Pick<MiningService, CallName>;

/**
 * Checks the access to every operation, and hides secrets and actions from callers that may only view. `withUserName`
 * gives the caller the name that the audit shows; `succeeded` is called after each successful operation.
 */
export function guarded(
  calls: Calls,
  accessBook: AccessBook,
  withUserName: (caller: Caller) => Caller,
  succeeded: (name: OperationName) => void,
): Calls {
  const checked = operationNames.flatMap((name) => {
    if (isStream(name)) return [];
    const method = calls[name];
    return [
      [
        name,
        async (input: never, caller: Caller) => {
          accessBook.check(name, caller);
          const reply = await method(input, withUserName(caller));
          succeeded(name);
          return accessBook.of(caller).privilege === "view"
            ? withoutActions(withoutSecrets(operations[name].reply, reply))
            : reply;
        },
      ] as const,
    ];
  });
  return Object.fromEntries(checked) as unknown as Calls;
}

const isStream = (name: OperationName): name is StreamName => operations[name].kind === "stream";
