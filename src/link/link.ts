import type { Control } from "../contract/readings.ts";
import type { RigAddress } from "./address.ts";
import { RigFirmware } from "./firmware.ts";
import { Pace } from "./pace.ts";
import type { Dial } from "./transports/exchange.ts";
import { type FrameTransport, frameTransport } from "./transports/frames.ts";
import { type HttpTransport, httpTransport } from "./transports/http.ts";
import { type LineTransport, lineTransport } from "./transports/lines.ts";
import { type RpcTransport, rpcTransport } from "./transports/rpc.ts";

/** Never logged, never in an error. */
export interface Credentials {
  readonly username?: string | undefined;
  readonly password?: string | undefined;
  readonly token?: string | undefined;
  /** Whether the maker's default login may be tried where none of these is given. */
  readonly makersLogin?: boolean | undefined;
  /** Passwords of configured pools, for rigs that take whole lists of pools and do not reveal the passwords in them. */
  readonly poolPassword?: PoolPassword | undefined;
}

export type PoolPassword = (url: string, worker: string) => string | undefined;

/** Everything that a driver may use to reach its device. */
export interface Link {
  readonly http: HttpTransport;
  /** HTTP at another port than 80, for an API that has its own; always the same port, since a rig has one such API. */
  httpOn(usualPort: number): HttpTransport;
  readonly rpc: RpcTransport;
  readonly frames: FrameTransport;
  readonly lines: LineTransport;
  readonly credentials: Credentials;
  /** The controls as last offered, also by an earlier connection or run: for ranges that the device does not report. */
  readonly knownControls: readonly Control[];
  /** How many fans it has listed, also by an earlier connection or run. */
  readonly knownFans: number;
  /** Whether it was read by an earlier connection. */
  readonly wasRead: boolean;
  /** How long it may take. */
  readonly pace: Pace;
  /** What its firmware has, also by the answers of other rigs with the same. */
  readonly firmware: RigFirmware;
  /** Milliseconds of a clock that never jumps. */
  readonly monotonicNow: () => number;
  /** Epoch ms, for devices that report their start time. */
  readonly now: () => number;
}

/** What earlier connections to the rig have shown. */
interface EarlierReads {
  readonly fans?: number;
  readonly wasRead?: boolean;
  readonly pace?: Pace;
}

/** Whether any login is given. */
export const hasLogin = ({ username, password, token }: Credentials): boolean =>
  [username, password, token].some((each) => each !== undefined);

/** `dial`: opens its connections if they do not go over the network directly. */
export interface LinkAddress extends RigAddress {
  readonly dial?: Dial;
}

/**
 * Transports to a rig at this address; a port in the address applies to each of them. Each is created on first use, and
 * most drivers use only one. Opens no connection.
 */
export const openLink = (
  address: LinkAddress,
  credentials: Credentials,
  monotonicNow = () => performance.now(),
  knownControls: readonly Control[] = [],
  firmware = new RigFirmware({ now: monotonicNow }),
  now: () => number = Date.now,
  earlier: EarlierReads = {},
): Link => new OpenLink(address, { credentials, monotonicNow, knownControls, firmware, now }, earlier);

/** A class, because V8 takes ten times the memory for an object literal with getters, and every rig has a link. */
class OpenLink implements Link {
  readonly credentials: Credentials;
  readonly knownControls: readonly Control[];
  readonly knownFans: number;
  readonly wasRead: boolean;
  readonly pace: Pace;
  readonly firmware: RigFirmware;
  readonly monotonicNow: () => number;
  readonly now: () => number;
  readonly #address: LinkAddress;
  #http: HttpTransport | undefined;
  #httpOn: HttpTransport | undefined;
  #rpc: RpcTransport | undefined;
  #frames: FrameTransport | undefined;
  #lines: LineTransport | undefined;

  constructor(
    address: LinkAddress,
    given: Pick<Link, "credentials" | "monotonicNow" | "knownControls" | "firmware" | "now">,
    { fans = 0, wasRead = false, pace = new Pace() }: EarlierReads,
  ) {
    this.#address = address;
    this.credentials = given.credentials;
    this.knownControls = given.knownControls;
    this.knownFans = fans;
    this.wasRead = wasRead;
    this.pace = pace;
    this.firmware = given.firmware;
    this.monotonicNow = given.monotonicNow;
    this.now = given.now;
  }

  get http(): HttpTransport {
    const { host, port, tls, dial } = this.#address;
    this.#http ??= httpTransport(host, port ?? (tls ? 443 : 80), tls, dial, this.pace);
    return this.#http;
  }

  httpOn(usualPort: number): HttpTransport {
    const { host, port, tls, dial } = this.#address;
    this.#httpOn ??= httpTransport(host, port ?? usualPort, tls, dial, this.pace);
    return this.#httpOn;
  }

  get rpc(): RpcTransport {
    const { host, port, dial } = this.#address;
    this.#rpc ??= rpcTransport(host, port ?? 4028, dial, this.pace);
    return this.#rpc;
  }

  get frames(): FrameTransport {
    const { host, port } = this.#address;
    this.#frames ??= frameTransport(host, port ?? 4433, this.pace);
    return this.#frames;
  }

  get lines(): LineTransport {
    const { host, port, dial } = this.#address;
    this.#lines ??= lineTransport(host, port ?? 3333, dial, this.pace);
    return this.#lines;
  }
}
