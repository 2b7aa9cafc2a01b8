import type { Store } from "../../src/store/index.ts";
import { until } from "../until.ts";

/** Waits until the store has written what waited for its database. */
export const flushed = (store: Pick<Store, "flush">, awaited: string): Promise<void> =>
  until(
    () =>
      store.flush().then(
        () => true,
        () => false,
      ),
    awaited,
  );
