import { isIP } from "node:net";
import { sendDeadline } from "../../async/send-deadline.ts";
import type { SnmpDevice } from "../../contract/facility-settings.ts";
import { RigbridgeError } from "../../contract/problems.ts";
import { detail } from "../../messages/detail.ts";
import { hostAndPort } from "../address.ts";
import { rigLookup } from "../forbidden-addresses.ts";
import { cutShort, garbled, socketError } from "./limits.ts";

/** SNMP v2c, or v3 with authentication and encryption (RFC 3414), over UDP. Reads may be repeated; a write is sent once. */
export interface SnmpTransport {
  /** host:port, for messages. */
  readonly at: string;
  /**
   * The numbers at these OIDs, null for one that is not there or holds no number. The signal is the deadline. Throws
   * `rig.unreachable`, `rig.timeout`, `rig.garbled`, `rig.refused` or `rig.login`.
   */
  get(oids: readonly string[], signal: AbortSignal): Promise<(number | null)[]>;
  /** Throws the same, and `service.no.active` if nothing may be sent any more. */
  set(oid: string, value: number, signal: AbortSignal): Promise<void>;
  /** Cancels open requests. */
  close(): void;
}

export type SnmpLogin = Pick<
  SnmpDevice,
  | "version"
  | "username"
  | "authProtocol"
  | "authPassword"
  | "privProtocol"
  | "privPassword"
  | "community"
  | "writeCommunity"
>;

type Snmp = typeof import("net-snmp");
type Session = import("net-snmp").Session;

/** OIDs in one request: its answer must fit into one packet. */
const perRequest = 20;
/** ms after which a read is asked again, since a packet may be lost, and how often. */
const repeatAfterMs = 1_000;
const repeats = 3;
/** SNMPv2-MIB (RFC 3418), which every agent has. */
const sysUpTime = "1.3.6.1.2.1.1.3.0";

export function snmpTransport(host: string, port: number, login: SnmpLogin): SnmpTransport {
  const at = hostAndPort(host, port);
  const closing = new AbortController();
  let reader: Session | null = null;
  let writer: Session | null = null;
  const drop = (): void => {
    for (const session of new Set([reader, writer])) session?.close();
    reader = null;
    writer = null;
  };

  const opened = async (writes: boolean, all: AbortSignal): Promise<Session> => {
    const kept = writes ? writer : reader;
    if (kept !== null) return kept;
    const snmp = await loaded();
    const address = await addressOf(at, host);
    // Nobody would close it any more.
    all.throwIfAborted();
    const session = sessionFor(snmp, address, port, login, writes);
    // Errors of the socket also end the open request.
    session.on("error", () => undefined);
    if (login.version === "3") reader = writer = session;
    else if (writes) writer = session;
    else reader = session;
    return session;
  };
  /** A session that has failed is not used again: the device may have restarted, or have another address. */
  const within = async <T>(signal: AbortSignal, work: (all: AbortSignal) => Promise<T>): Promise<T> => {
    const all = AbortSignal.any([signal, closing.signal]);
    const cutOff = (): RigbridgeError => cutShort(at, closing.signal.aborted ? null : signal, 0);
    if (all.aborted) throw cutOff();
    let cut: () => void = () => undefined;
    const cancelled = new Promise<never>((_, reject) => {
      cut = () => reject(cutOff());
      all.addEventListener("abort", cut, { once: true });
    });
    cancelled.catch(() => undefined);
    try {
      return await Promise.race([work(all), cancelled]);
    } catch (error) {
      drop();
      throw error;
    } finally {
      all.removeEventListener("abort", cut);
    }
  };

  return {
    at,
    get: (oids, signal) =>
      within(signal, async (all) => {
        const session = await opened(false, all);
        const values: (number | null)[] = [];
        for (let from = 0; from < oids.length; from += perRequest)
          values.push(...(await getFrom(at, session, oids.slice(from, from + perRequest))));
        return values;
      }),
    set: (oid, value, signal) =>
      within(signal, async (all) => {
        const session = await opened(true, all);
        // v3 may first need an exchange of its own (RFC 3414, 4): a read makes it, so that the write leaves now or not at all.
        if (login.version === "3") await getFrom(at, session, [sysUpTime]);
        all.throwIfAborted();
        if (sendDeadline()?.isOver === true) throw new RigbridgeError("service.no.active", detail("command.noLease"));
        await setAt(at, session, oid, value);
      }),
    close: () => {
      closing.abort();
      drop();
    },
  };
}

/** Loaded for the first device, since few services have one. */
const loaded = async (): Promise<Snmp> => (await import("net-snmp")).default;

/** The sockets of SNMP resolve names themselves, also to addresses that nothing may be sent to. */
const addressOf = (at: string, host: string): Promise<string> =>
  isIP(host) !== 0
    ? Promise.resolve(host)
    : new Promise((resolve, reject) =>
        rigLookup(host, {}, (error, address) => {
          if (error === null && typeof address === "string") resolve(address);
          else reject(socketError(at, error ?? new Error("no address")));
        }),
      );

function sessionFor(snmp: Snmp, address: string, port: number, login: SnmpLogin, writes: boolean): Session {
  const common = {
    port,
    transport: isIP(address) === 6 ? ("udp6" as const) : ("udp4" as const),
    // A write must not be sent twice; the caller's deadline comes first.
    retries: 0,
    timeout: 30_000,
  };
  if (login.version === "2c") {
    const community = (writes ? login.writeCommunity : login.community) ?? "";
    return snmp.createSession(address, community, { ...common, version: snmp.Version2c });
  }
  const user = {
    name: login.username ?? "",
    level: snmp.SecurityLevel.authPriv,
    authProtocol: snmp.AuthProtocols[login.authProtocol],
    authKey: login.authPassword ?? "",
    privProtocol: snmp.PrivProtocols[privacy[login.privProtocol]],
    privKey: login.privPassword ?? "",
  };
  return snmp.createV3Session(address, user, { ...common, version: snmp.Version3 });
}

/** aes256: with the key extension of Blumenthal, as Net-SNMP, APC and Raritan have it. */
const privacy = { aes: "aes", aes256: "aes256b", des: "des" } as const;

/** Asks again while there is no answer; the first answer counts. */
function getFrom(at: string, session: Session, oids: readonly string[]): Promise<(number | null)[]> {
  return new Promise((resolve, reject) => {
    let repeat: NodeJS.Timeout | undefined;
    const ask = (left: number): void => {
      if (left > 0) repeat = setTimeout(() => ask(left - 1), repeatAfterMs);
      session.get([...oids], (error, varbinds = []) => {
        clearTimeout(repeat);
        if (error !== null) reject(snmpError(at, error));
        else if (varbinds.length !== oids.length) reject(garbled(at, "the answer has other OIDs than the request"));
        else resolve(varbinds.map(({ type, value }) => (isNumber(type) ? numberOf(value) : null)));
      });
    };
    ask(repeats);
  });
}

function setAt(at: string, session: Session, oid: string, value: number): Promise<void> {
  return new Promise((resolve, reject) =>
    session.set([{ oid, type: integerType, value }], (error) =>
      error === null ? resolve() : reject(snmpError(at, error)),
    ),
  );
}

/** RFC 2578, 7.1: INTEGER, Counter32, Gauge32, TimeTicks, Counter64. */
const integerType = 0x02;
const numberTypes: ReadonlySet<number> = new Set([integerType, 0x41, 0x42, 0x43, 0x46]);
const isNumber = (type: number | undefined): boolean => type !== undefined && numberTypes.has(type);

/** A Counter64 comes in its bytes. */
function numberOf(value: unknown): number | null {
  if (typeof value === "number") return value;
  if (!Buffer.isBuffer(value) || value.length === 0 || value.length > 9) return null;
  return Number(BigInt(`0x${value.toString("hex")}`));
}

function snmpError(at: string, error: Error): RigbridgeError {
  if ("code" in error && typeof error.code === "string")
    return socketError(at, Object.assign(error, { code: error.code }));
  if (error.name === "RequestTimedOutError") return new RigbridgeError("rig.timeout", detail("link.late", { at }));
  // The reports of RFC 3414, 3.2, in the words of net-snmp.
  const isLogin = /unknown user|wrong digest|security level|decrypt/i.test(error.message);
  if (isLogin) return new RigbridgeError("rig.login", `${at} refused the login of SNMP v3`);
  if (error.name === "RequestFailedError")
    return new RigbridgeError("rig.refused", `${at} refused the request: ${error.message.slice(0, 100)}`);
  return garbled(at, "the answer is not one of SNMP");
}
