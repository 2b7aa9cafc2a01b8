import type { RigAddress } from "./address.ts";
import { type FrameTransport, frameTransport } from "./transports/frames.ts";
import { type HttpTransport, httpTransport } from "./transports/http.ts";
import { type RpcTransport, rpcTransport } from "./transports/rpc.ts";

/** What opens a rig's API. Never logged, never in an error. */
export interface Credentials {
  readonly username?: string | undefined;
  readonly password?: string | undefined;
  readonly token?: string | undefined;
  /** Where none of these is given, the login that the maker gives each of its devices may be tried. */
  readonly makersLogin?: boolean | undefined;
  /** Of a pool that the owner has told of, for rigs that take whole lists of pools and do not show the passwords in them. */
  readonly poolPassword?: PoolPassword | undefined;
}

export type PoolPassword = (url: string, worker: string) => string | undefined;

/** All that a driver may use to reach its device. */
export interface Link {
  readonly http: HttpTransport;
  readonly rpc: RpcTransport;
  readonly frames: FrameTransport;
  readonly credentials: Credentials;
  /** Milliseconds of a clock that never jumps. */
  readonly monotonicNow: () => number;
}

/** The ways to a rig at this address; a port in the address stands for each of them. Opens no connection. */
export const openLink = (
  { host, port, tls }: RigAddress,
  credentials: Credentials,
  monotonicNow = () => performance.now(),
): Link => ({
  http: httpTransport(host, port ?? (tls ? 443 : 80), tls),
  rpc: rpcTransport(host, port ?? 4028),
  frames: frameTransport(host, port ?? 4433),
  credentials,
  monotonicNow,
});
