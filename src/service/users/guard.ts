import { withoutActions } from "../../contract/may-act.ts";
import { type OperationName, operationNames, operations } from "../../contract/operations.ts";
import { withoutSecrets } from "../../contract/secrets.ts";
import type { Caller, CallName, MiningService, StreamName } from "../../contract/service.ts";
import type { AccessBook } from "./access.ts";

/** Does the work of an operation, unless it was done for an earlier request with the same key. */
export type Once = (name: CallName, input: object, caller: Caller, work: () => Promise<unknown>) => Promise<unknown>;

export type Calls = Pick<MiningService, CallName>;

/**
 * Checks the access to every operation, and hides secrets and actions from callers that may only view. `withUserName`
 * gives the caller the name that the audit shows; `once` does the work of an operation, or answers as before if a key says
 * that it was asked before; `succeeded` is called after each successful operation.
 */
export function guarded(
  calls: Calls,
  accessBook: AccessBook,
  withUserName: (caller: Caller) => Caller,
  once: Once,
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
          const named = withUserName(caller);
          const reply = await once(name, input, named, () => method(input, named));
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
