import { RigbridgeError } from "../contract/problems.ts";
import type { Control, Identity } from "../contract/readings.ts";
import { detail } from "../messages/detail.ts";
import { hostAndPort, type RigAddress } from "./address.ts";
import { connect } from "./connect.ts";
import type { Driver, HttpSign, Question, Rig, Signs } from "./driver.ts";
import { drivers } from "./drivers/index.ts";
import { FirmwareBook, RigFirmware } from "./firmware.ts";
import { FurtherSigns, signOf } from "./further-signs.ts";
import { unknownIdentity } from "./identity.ts";
import { type Credentials, hasLogin, openLink } from "./link.ts";
import { Pace } from "./pace.ts";
import { programPort } from "./ports.ts";
import { type HttpTransport, httpTransport } from "./transports/http.ts";
import { exchange } from "./transports/rpc.ts";
import { unreadableMake } from "./unreadable.ts";

/** A recognised device: its driver and connection, and the identity known before the first read. */
export interface Identified {
  readonly driver: Driver;
  readonly rig: Rig;
  readonly identity: Identity;
  readonly address: RigAddress;
}

/** What is remembered of a rig before it answers. */
export interface Known {
  readonly identity: Identity | null;
  /** As last offered. */
  readonly controls: readonly Control[];
  /** How many fans it has listed. */
  readonly fans?: number;
  /** Whether it was read since the program started. */
  readonly wasRead?: boolean;
  readonly pace?: Pace;
  /** Shared by all rigs of a fleet. */
  readonly firmware: FirmwareBook;
}

const nothingKnown = (): Known => ({ identity: null, controls: [], firmware: new FirmwareBook() });

/** Code `rig.login`: a rig that is recognised, but answers only after a login. */
export class ClosedRig extends RigbridgeError {
  readonly driver: Driver;
  readonly identity: Identity;
  /** The error's sentence without the rig's name. */
  readonly reason: string;

  constructor(rig: string, token: "noToken" | "wrongToken", driver: Driver, identity: Partial<Identity>) {
    const said = detail(`link.${token}`, { at: rig });
    super("rig.login", said);
    this.reason = said.text.slice(rig.length + 1);
    this.driver = driver;
    this.identity = { ...unknownIdentity, ...identity };
  }
}

/** Code `rig.unknown-protocol`: a device recognised by its page or login that no driver reads yet. */
export class UnreadableRig extends RigbridgeError {
  readonly identity: Identity;
  /** The error's sentence without the rig's name. */
  readonly reason = "this version cannot read it";

  constructor(at: string, make: string) {
    super("rig.unknown-protocol", detail("link.unreadable", { at, make: withArticle(make) }));
    this.identity = { ...unknownIdentity, make };
  }
}

/**
 * Recognises the device at an address: gathers signs once and asks the drivers. With `driver` given, nothing is
 * gathered; the caller's first read shows whether it fits.
 * Throws `rig.unreachable` when nothing listens, `rig.unknown-protocol` with what each port answered, an UnreadableRig
 * for a device that no driver reads, and a ClosedRig when the device requires other credentials. No credentials are
 * sent before the signs show what is there.
 */
export async function identify(
  address: RigAddress,
  credentials: Credentials,
  signal: AbortSignal,
  driver?: Driver,
  known = nothingKnown(),
): Promise<Identified> {
  if (driver !== undefined) return identified(driver, address, credentials, {}, known);
  const search = new Search(address, credentials, signal, { ...known, identity: null });
  return search.run();
}

/** The same for an unknown device and without credentials. `answered` is called at each answer, to extend a deadline. */
export const recogniseAt = (address: RigAddress, signal: AbortSignal, answered: () => void): Promise<Identified> =>
  new Search(address, {}, signal, nothingKnown(), answered).run();

function identified(
  driver: Driver,
  address: RigAddress,
  credentials: Credentials,
  signs: Partial<Identity>,
  known: Known,
): Identified {
  const login = withMakersLogin(credentials, driver);
  const now = (): number => performance.now();
  const firmware = new RigFirmware({ book: known.firmware, driver: driver.id, login: hasLogin(login), now });
  const identity = { ...unknownIdentity, ...signs };
  firmware.recognise(known.identity ?? identity);
  const at = { ...address, port: address.port ?? programPort(driver) };
  return {
    driver,
    rig: connect(driver, openLink(at, login, now, known.controls, firmware, undefined, known)),
    identity,
    address,
  };
}

/** The given credentials, otherwise the manufacturer's default login if allowed. */
function withMakersLogin(credentials: Credentials, { makersLogin }: Driver): Credentials {
  const { username, password, token, makersLogin: allowed } = credentials;
  const given = username !== undefined || password !== undefined || token !== undefined;
  return given || allowed !== true || makersLogin === undefined ? credentials : { ...credentials, ...makersLogin };
}

/** Ports where HTTP is tried before RPC. */
const webPorts = new Set([80, 443, 8080]);
/** Before the second protocol is tried beside the first at a port where both are possible. */
const secondProtocolAfterMs = 400;

type Gathered = Pick<Signs, "root" | "version">;

class Search {
  readonly #address: RigAddress;
  readonly #credentials: Credentials;
  readonly #signal: AbortSignal;
  readonly #known: Known;
  readonly #answered: () => void;
  readonly #http: HttpTransport;
  /** What each port answered, one line each; and the same without words of the device. */
  readonly #seen: { readonly line: string; readonly unquoted: string }[] = [];
  /** The answer to GET /, once there is one. */
  #page: HttpSign | null = null;
  #refusals = 0;
  #questions = 0;
  readonly #asked: FurtherSigns;

  constructor(
    address: RigAddress,
    credentials: Credentials,
    signal: AbortSignal,
    known: Known,
    answered: () => void = () => undefined,
  ) {
    this.#address = address;
    this.#credentials = credentials;
    this.#signal = signal;
    this.#known = known;
    this.#answered = answered;
    this.#http = httpTransport(address.host, address.port ?? (address.tls ? 443 : 80), address.tls);
    this.#asked = new FurtherSigns(address, this.#http, credentials.token, known.pace ?? new Pace(), signal);
  }

  async run(): Promise<Identified> {
    const { port, tls } = this.#address;
    if (tls) return this.#decide({ root: await this.#root(this.#signal), version: null });
    if (port === null) {
      const [root, version] = await Promise.all([this.#root(this.#signal), this.#version(4028, this.#signal)]);
      return this.#decide({ root, version });
    }
    return this.#onePort(port);
  }

  /** HTTP and RPC at one port: the likelier first, the other when that shows nothing or is slow. */
  async #onePort(port: number): Promise<Identified> {
    const rest = new AbortController();
    const signal = AbortSignal.any([this.#signal, rest.signal]);
    const web = async (): Promise<Gathered> => ({ root: await this.#root(signal), version: null });
    const rpc = async (): Promise<Gathered> => ({ root: null, version: await this.#version(port, signal) });
    let early: Gathered | null = null;
    const [likelier, other] = webPorts.has(port) ? [web, rpc] : [rpc, web];
    try {
      const first = likelier();
      early = await within(first, secondProtocolAfterMs);
      const found = early === null ? null : await this.#recognise(early);
      if (found !== null) return found;
      if (early !== null && this.#refusals > 0) return await this.#decide(early);
      const second = other();
      // A slow rig may never answer the other protocol.
      for (const answer of early === null ? [Promise.race([first, second]), first, second] : [second]) {
        const gathered = await answer;
        const later = await this.#recognise(gathered);
        if (later !== null) return later;
        // Programs are not asked where there is a page, which may be on its way; a program may not answer other protocols.
        await within(Promise.allSettled([first, second]), secondProtocolAfterMs);
        const program = await this.#recognise(gathered, true);
        if (program !== null) return program;
      }
      return await this.#decide(await first);
    } finally {
      // An error for each rig of a large farm would cost more than its question.
      if (early === null) rest.abort();
    }
  }

  async #decide(signs: Gathered): Promise<Identified> {
    const found = await this.#recognise(signs, this.#refusals === 0);
    if (found !== null) return found;
    const make = this.#page === null ? null : unreadableMake(this.#page);
    if (make !== null) throw new UnreadableRig(this.#http.at, make);
    const place = this.#address.host;
    const hints = this.#address.port === null ? [programHint] : [];
    const seen = [...this.#seen.map(({ line }) => line), ...hints].join("; ");
    const unquoted = [...this.#seen.map((each) => each.unquoted), ...hints].join("; ");
    if (this.#refusals === this.#questions)
      throw new RigbridgeError("rig.unreachable", `No rig can be reached at ${place}: ${seen}`);
    const what = `Nothing at ${place} speaks a known protocol`;
    throw new RigbridgeError("rig.unknown-protocol", `${what}: ${seen}`, { unquoted: `${what}: ${unquoted}` });
  }

  /** `otherProtocols`: whether to try the protocols of mining programs too. */
  async #recognise(gathered: Gathered, otherProtocols = false): Promise<Identified | null> {
    const base = otherProtocols ? { ...gathered, root: gathered.root ?? this.#page } : gathered;
    for (const driver of drivers) {
      let recognised = driver.recognise(this.#asked.signs(base));
      for (let questions = 0; isQuestion(recognised) && questions < 3; questions += 1) {
        if (!(otherProtocols || "page" in recognised || "command" in recognised)) break;
        if (await this.#asked.ask(recognised)) this.#answered();
        if ("page" in recognised) this.#refuseWrongToken(driver, recognised.page, base);
        recognised = driver.recognise(this.#asked.signs(base));
      }
      if (recognised !== undefined && !isQuestion(recognised))
        return identified(driver, this.#address, this.#credentials, recognised, this.#known);
    }
    return null;
  }

  /** A device that is recognised although it refused the request is closed. */
  #refuseWrongToken(driver: Driver, path: string, gathered: Gathered): void {
    const status = this.#asked.status(path);
    if (status !== 401 && status !== 403) return;
    const recognised = driver.recognise(this.#asked.signs(gathered));
    if (recognised === undefined || isQuestion(recognised)) return;
    const { token } = this.#credentials;
    const what = token === undefined ? "noToken" : "wrongToken";
    throw new ClosedRig(`${driver.name} at ${this.#http.at}`, what, driver, recognised);
  }

  async #root(signal: AbortSignal): Promise<HttpSign | null> {
    const answered = await this.#question("web", this.#http.at, this.#http.call({ method: "GET", path: "/" }, signal));
    if (answered === null) return null;
    const sign = signOf(answered);
    this.#page = sign;
    this.#see(`${this.#http.at} answers HTTP ${sign.status} without a sign of a known rig`);
    return sign;
  }

  /** The line end makes servers that read lines, as web servers do, answer at once. */
  async #version(port: number, signal: AbortSignal): Promise<unknown> {
    const { host } = this.#address;
    const at = hostAndPort(host, port);
    const request = `${JSON.stringify({ command: "version" })}\n`;
    const answered = await this.#question("RPC", at, exchange({ host, port, at }, request, signal));
    if (answered === null) return null;
    this.#asked.rpcPort = port;
    this.#see(`${at} answers RPC with something unknown`);
    return answered.value;
  }

  /** null, with a line about it, where there is no readable answer. */
  async #question<T>(kind: "web" | "RPC", at: string, answer: Promise<T>): Promise<T | null> {
    this.#questions += 1;
    try {
      const answered = await answer;
      this.#answered();
      return answered;
    } catch (error) {
      if (!(error instanceof RigbridgeError)) throw error;
      const isAway = error.code === "rig.unreachable";
      if (isAway) this.#refusals += 1;
      const lineOf = (text: string): string =>
        `${at}${isAway ? "" : ` to a ${kind} request`}: ${text.replace(`${at}: `, "")}`;
      this.#see(lineOf(error.message), lineOf(error.unquoted));
      return null;
    }
  }

  #see(line: string, unquoted = line): void {
    this.#seen.push({ line, unquoted });
  }
}

/** null when it takes longer, or fails. */
async function within<T>(answer: Promise<T>, ms: number): Promise<T | null> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<null>((resolve) => {
    timer = setTimeout(resolve, ms, null);
  });
  try {
    return await Promise.race([answer, late]);
  } catch {
    return null;
  } finally {
    clearTimeout(timer);
  }
}

const isQuestion = (recognised: Partial<Identity> | Question | undefined): recognised is Question =>
  recognised !== undefined && ["page", "command", "line", "text"].some((key) => key in recognised);

const programHint =
  "a mining program is found only if the address contains the port of its API, such as that of XMRig's --http-port";

/** "an IceRiver", "a Goldshell". */
const withArticle = (make: string): string => `${/^[aeiou]/i.test(make) ? "an" : "a"} ${make}`;
