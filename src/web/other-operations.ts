type Operations = typeof import("virtual:operations/others").operations;

/** The operations that only pages other than the first name; empty until they are loaded. */
export let otherOperations: Operations = {};

/** Resolves when the operations of all pages are there; rejects if they cannot be loaded. */
export async function loadOtherOperations(): Promise<void> {
  otherOperations = (await import("virtual:operations/others")).operations;
}
