import { withoutActions } from "../../contract/may-act.ts";
import { operationNames, operations } from "../../contract/operations.ts";
import { withoutSecrets } from "../../contract/secrets.ts";
import type { Caller, CallName, MiningService } from "../../contract/service.ts";
import type { AccessBook } from "./access.ts";

export type Calls = Pick<MiningService, CallName>;

/**
 * Nobody gets to an operation that is not for them, and whoever may only look is shown no secret and nothing that could
 * be done; `named` says for the audit through whose eyes a caller looks.
 */
export function guarded(calls: Calls, accessBook: AccessBook, named: (caller: Caller) => Caller): Calls {
  const checked = operationNames.flatMap((name) => {
    if (name === "watchEvents") return [];
    const method = calls[name];
    return [
      [
        name,
        async (input: never, caller: Caller) => {
          accessBook.check(name, caller);
          const reply = await method(input, named(caller));
          return accessBook.of(caller).privilege === "view"
            ? withoutActions(withoutSecrets(operations[name].reply, reply))
            : reply;
        },
      ] as const,
    ];
  });
  return Object.fromEntries(checked) as unknown as Calls;
}
