import type { Declared } from "../src/fleet/declared.ts";
import { parseAddress } from "../src/link/address.ts";

/** A simulated rig as a fleet is told of it, read every `interval` ms: hardly ever by itself unless that is given. */
export const declaredRig = (
  { address, kind, token }: { readonly address: string; readonly kind: string; readonly token?: string | undefined },
  id: number,
  interval = 3_600_000,
): Declared => ({
  id,
  address: parseAddress(address),
  credentials: { token },
  driver: kind,
  uid: null,
  interval,
  powerNameplate: null,
  offlineExpected: false,
  disabled: false,
});
