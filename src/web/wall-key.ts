import { link } from "./route.ts";

/**
 * The key in the address of a wall view, after `#`, a part that browsers do not send: a screen on a wall has no
 * keyboard to sign in with. Revoking the key ends its view.
 */
export function keyInAddress(): string | null {
  if (location.pathname.replace(/\/$/, "") !== link("wall")) return null;
  return new URLSearchParams(location.hash.slice(1)).get("key");
}

/** The login code in an address that the service has printed, after `#`. It opens one session. */
export const codeInAddress = (): string | null => new URLSearchParams(location.hash.slice(1)).get("code");

/** A used code no longer opens a session. */
export const removeCode = (): void => history.replaceState(null, "", location.pathname + location.search);

/** The address of the wall view with a key. */
export const wallAddress = (key: string): string => `${location.origin}${link("wall")}#${new URLSearchParams({ key })}`;
