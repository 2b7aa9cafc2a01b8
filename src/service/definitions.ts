import { Mutex } from "../async/index.ts";
import { type OperationName, operations } from "../contract/operations.ts";
import type { Once } from "./users/guard.ts";

/** They change no definition, or act on rigs, channels and agents, which keep an order of their own. */
const others: ReadonlySet<OperationName> = new Set<OperationName>([
  ...(["minerAction", "minerPoolAction", "cancelCommand", "startBulkAction", "cancelBulkAction"] as const),
  "locatePlace",
  ...(["previewCurtailment", "startCurtailment", "changeCurtailment", "endCurtailment"] as const),
  ...(["releaseCurtailment", "drillCurtailmentPlan"] as const),
  ...(["allNotificationsAction", "notificationsAction", "notificationAction"] as const),
  ...(["pollMiner", "startDiscovery", "cancelDiscovery", "previewImport"] as const),
  ...(["tryRule", "testChannel", "testSettings", "confirmManagedMinerDownload"] as const),
]);

const changesDefinitions = (name: OperationName): boolean => operations[name].method !== "GET" && !others.has(name);

/** Changes of definitions, one after another: what one has checked, such as a free address, is still so when it writes. */
export class DefinitionTurns {
  readonly #turns = new Mutex();

  run<T>(change: () => Promise<T>): Promise<T> {
    return this.#turns.run(change);
  }

  /** The same operations, with those that change definitions in turn. */
  readonly inTurn =
    (once: Once): Once =>
    (name, input, caller, work) =>
      once(name, input, caller, changesDefinitions(name) ? () => this.run(work) : work);
}
