import { Mutex } from "../async/index.ts";
import { RigbridgeError } from "../contract/problems.ts";
import type { Identity } from "../contract/readings.ts";
import { formatAddress } from "../link/address.ts";
import type { Reading, Rig } from "../link/driver.ts";
import { nameplateOf } from "../link/nameplate.ts";
import { Pace } from "../link/pace.ts";
import { openPlug } from "../link/plugs/open-plug.ts";
import type { Plug } from "../link/plugs/plug.ts";
import { detail } from "../messages/detail.ts";
import { connectDevice } from "./connect-device.ts";
import { type Declared, type ReadSettings, type RigContext, withReadSettings } from "./declared.ts";
import { driverNamed, openRig } from "./open-rig.ts";
import { sameShape, shapeOf } from "./remembered-shape.ts";
import { checkIdentity } from "./rig-identity.ts";
import { phaseOf } from "./schedule.ts";
import {
  afterMiss,
  afterRead,
  afterRefusal,
  afterSilence,
  beforeFirstRead,
  type Remembered,
  type RigState,
  rememberedOf,
  type Trouble,
  uidOf,
  unusable,
  withReason,
} from "./state.ts";

/**
 * Consecutive failed reads before the rig is identified again instead of read by the remembered driver: with an answer,
 * and without.
 */
const doubtAfter = 3;
const doubtSilenceAfter = 10;
/** Errors that another device, or other firmware, may cause. */
const doubtful: ReadonlySet<string> = new Set(["rig.garbled", "rig.refused", "rig.login"]);

/** However rarely a slow rig is read. */
const longestReadMs = 60_000;

/** Why a yielding read was aborted. */
const madeWay = new DOMException("a command goes first", "AbortError");

/** Errors of a restarting rig until it is ready: it refuses connections, closes them, or answers in part. */
const unready: ReadonlySet<string> = new Set(["rig.garbled", "rig.refused", "rig.timeout", "rig.unreachable"]);

const troubleOf = ({ code, unquoted, message, coded }: RigbridgeError): Trouble => ({
  code,
  message: unquoted,
  quoted: message,
  ...(coded === null ? {} : { coded }),
});

/** How a read is treated. */
export interface ReadManner {
  /** The rig may be silent for a moment without counting as offline. */
  readonly silence?: boolean;
  /** `makeWay` may abort it; the state then does not change. */
  readonly yields?: boolean;
}

/** ms that one read may take at most. */
const longestOf = ({ interval }: Declared): number => Math.min(interval, longestReadMs);

/** One rig of the fleet: its link, its state, and one exchange at a time. */
export class FleetRig {
  #declared: Declared;
  readonly phase: number;
  /** When it is read next, by the monotonic clock; Infinity while nothing is scheduled. */
  dueAt = Number.POSITIVE_INFINITY;
  readonly #context: RigContext;
  readonly #mutex = new Mutex();
  readonly #pace: Pace;
  #state: RigState;
  #rig: Rig | null = null;
  /** Kept across connections to the rig behind it, with its last state. */
  readonly #plug: Plug | null;
  /** What was last stored. */
  #written: Remembered;
  /** Consecutive failures with the present driver, other than mere silence. */
  #doubts = 0;
  /** Identify the device on the next connection. */
  #mustIdentify = false;
  /** Whether the next read must confirm the identity. */
  #doubted = false;
  /** Whether the next read belongs to a command. */
  #commanded = false;
  /** When the last good read was, by the monotonic clock. */
  #readAt = Number.POSITIVE_INFINITY;
  /** The uptime of that read. */
  #uptime: number | null = null;
  /** Until when it may be silent after an accepted restart, by the monotonic clock. */
  #restartsUntil = Number.NEGATIVE_INFINITY;
  /** Aborts the present read, if it yields. */
  #yielding: AbortController | null = null;
  #closed = false;

  constructor(declared: Declared, remembered: Remembered, context: RigContext) {
    this.#declared = declared;
    this.phase = phaseOf(declared.id);
    this.#context = context;
    this.#pace = new Pace(declared.timeout ?? context.timeout, longestOf(declared));
    this.#plug = declared.supply && !declared.disabled ? openPlug(declared.supply, context) : null;
    this.#state = withReason(beforeFirstRead(remembered), declared.disabled, context.now());
    this.#written = rememberedOf(this.#state);
  }

  /** Continues from its state if another poller has read it until now. */
  resume(last: RigState): void {
    this.#state = withReason(last, this.declared.disabled, this.#context.now());
    this.#written = this.#state;
    if (last.at === null) return;
    this.#readAt = this.#context.monotonicNow() - Math.max(0, this.#context.now() - last.at);
    this.#uptime = last.reading?.readings.uptime ?? null;
  }

  get id(): number {
    return this.#declared.id;
  }

  get declared(): Declared {
    return this.#declared;
  }

  /** Reads differ from now on; a running read or command continues. */
  adjust(settings: ReadSettings): void {
    const { username, password, token, makersLogin } = this.#declared.credentials;
    const hasOwnLogin = [username, password, token].some((part) => part !== undefined);
    const mustConnect = makersLogin !== settings.makersLogin && !hasOwnLogin;
    this.#declared = withReadSettings(this.#declared, settings);
    this.#pace.change(settings.timeout, longestOf(this.#declared));
    // With or without the maker's login from the next read on.
    if (mustConnect) void this.exclusively(async () => this.#disconnect());
  }

  get state(): RigState {
    return this.#state;
  }

  get busy(): boolean {
    return this.#mutex.locked;
  }

  /** Runs work while nothing else uses the rig, in the order of the calls. */
  exclusively<T>(work: () => Promise<T>): Promise<T> {
    return this.#mutex.run(work);
  }

  /** When time alone changes the state, by the monotonic clock; Infinity when it does not. */
  get agesAt(): number {
    const { reading, missed, restarting } = this.#state;
    if (reading !== null) return this.#readAt + (missed + 1) * this.declared.interval + this.#pace.readMs;
    return restarting ? this.#restartsUntil : Number.POSITIVE_INFINITY;
  }

  /** Ages the state of a rig that is not read because a command uses it. */
  age(): void {
    const { interval } = this.declared;
    // A read that ended with its timeout was due that much earlier.
    const silent = this.#context.monotonicNow() - this.#readAt - this.#pace.readMs;
    this.#move(afterSilence(this.#state, Math.floor(silent / interval)));
  }

  /** The rig accepted a restart, after which it may be silent for this many seconds. */
  restarts(seconds: number): void {
    this.#restartsUntil = this.#context.monotonicNow() + seconds * 1000;
    this.#move(this.#state);
  }

  /** The rig has restarted. */
  restarted(): void {
    this.#restartsUntil = Number.NEGATIVE_INFINITY;
    this.#move(this.#state);
  }

  /**
   * Reads the rig and updates its state, also with failures of the rig; rejects only when the program itself fails on
   * the reply. Only within `exclusively`.
   */
  async read({ silence = false, yields = false }: ReadManner = {}): Promise<void> {
    const limit = new AbortController();
    this.#yielding = yields ? limit : null;
    try {
      this.#checkOpen();
      const reading = await this.#readOnce(limit);
      this.#checkOpen();
      // The aborted reading may be incomplete.
      if (limit.signal.reason === madeWay) return;
      if (reading.off !== true) {
        this.#checkIdentity(reading.identity);
        await this.#name(reading.identity);
      }
      this.#take(reading);
      this.#doubts = 0;
      await this.#rememberShape();
    } catch (error) {
      if (limit.signal.reason === madeWay) return;
      if (!(error instanceof RigbridgeError)) throw error;
      this.#miss(error, silence);
      await this.#rememberReason();
    } finally {
      this.#yielding = null;
      this.#commanded = false;
      // It may have been connected while it was closed.
      if (this.#closed) this.#disconnect();
    }
  }

  /** Aborts the present read, if it yields: a command reads the rig itself, and must not wait for two reads. */
  makeWay(): void {
    if (this.#rig?.quick) this.#yielding?.abort(madeWay);
  }

  /**
   * The open link, for a command. Only within `exclusively`, after a good read. Throws the trouble of the last read.
   */
  rig(): Rig {
    if (this.#rig === null)
      throw new RigbridgeError(
        "rig.unreachable",
        detail("link.notConnected", { at: formatAddress(this.declared.address) }),
      );
    return this.#rig;
  }

  /** Its plug; null without one. Only within `exclusively`. */
  get plug(): Plug | null {
    return this.#plug;
  }

  /** The next read confirms that it is still the known rig, before a command is sent. */
  doubt(): void {
    this.#doubted = true;
    this.#commanded = true;
    this.#rig?.doubt?.();
  }

  /**
   * The program failed on the last reading, so it is dropped. `before` is the state before it; the identity is kept.
   */
  drop(before: RigState): void {
    const { uid, driver, identity } = this.#state;
    this.#move(afterRefusal({ ...before, uid, driver, identity }, unusable));
    this.#suspect(true);
  }

  /** Final; cancels the present exchange. */
  close(): void {
    this.#closed = true;
    this.#disconnect();
    this.#plug?.close();
  }

  #take(reading: Reading): void {
    const ticks = this.#context.monotonicNow();
    const before = this.#uptime === null ? null : { uptime: this.#uptime, elapsed: ticks - this.#readAt };
    const state = afterRead(this.#state, reading, {
      at: this.#context.now(),
      nameplate: this.#nameplateFor(reading),
      longestGap: Math.max(30_000, 3 * this.declared.interval),
      before,
    });
    this.#uptime = reading.readings.uptime;
    this.#readAt = ticks;
    this.#move(state);
  }

  #nameplateFor({ identity, readings }: Reading): number | null {
    const { powerNameplate, modelNameplate } = this.declared;
    if (powerNameplate !== null || modelNameplate !== true || readings.power !== null) return powerNameplate;
    const known = this.#state.identity;
    return nameplateOf({ make: identity.make ?? known?.make ?? null, model: identity.model ?? known?.model ?? null });
  }

  #move(state: RigState): void {
    const restarting = this.#context.monotonicNow() < this.#restartsUntil;
    const now = state.restarting === restarting ? state : { ...state, restarting };
    this.#state = withReason(now, this.declared.disabled, this.#context.now());
  }

  #disconnect(): void {
    this.#rig?.close();
    this.#rig = null;
  }

  /** After the rig has left the fleet nothing is stored, and no waiting command is sent. */
  #checkOpen(): void {
    if (this.#closed)
      throw new RigbridgeError("rig.unreachable", `${formatAddress(this.declared.address)} was changed or removed`);
  }

  async #readOnce(limit: AbortController): Promise<Reading> {
    // An own timer: AbortSignal.timeout costs several times as much, 4,000 times a second.
    const timer = setTimeout(() => limit.abort(new DOMException("", "TimeoutError")), this.#pace.readMs);
    const begun = this.#context.monotonicNow();
    this.#pace.begin();
    try {
      this.#rig ??= await this.#open(limit.signal);
      const reading = await this.#rig.read(limit.signal);
      this.#pace.succeeded(this.#context.monotonicNow() - begun);
      return reading;
    } catch (error) {
      if (limit.signal.reason !== madeWay) this.#pace.failed();
      throw error;
    } finally {
      clearTimeout(timer);
    }
  }

  async #open(signal: AbortSignal): Promise<Rig> {
    const { program } = this.declared;
    if (program !== undefined && this.#context.programs !== null)
      this.#state = { ...this.#state, driver: driverNamed(program.driver)?.id ?? null };
    return openRig(
      {
        declared: this.declared,
        context: this.#context,
        plug: this.#plug,
        state: () => this.#state,
        connect: (within) => this.#connect(within),
      },
      signal,
    );
  }

  async #connect(signal: AbortSignal): Promise<Rig> {
    const mustIdentify = this.#mustIdentify;
    this.#mustIdentify = false;
    const { declared } = this;
    const found = await connectDevice(
      { declared, context: this.#context, state: this.#state, pace: this.#pace, mustIdentify },
      signal,
    );
    if (found.driver.id !== this.#state.driver) this.#doubted = true;
    this.#state = { ...this.#state, driver: found.driver.id, identity: this.#state.identity ?? found.identity };
    return found.rig;
  }

  #checkIdentity(read: Identity): void {
    // The host's agent identifies the program, even after its software has changed.
    if (this.declared.program !== undefined) return;
    const { uid, identity } = this.#state;
    const doubts = { at: formatAddress(this.declared.address), isDoubted: this.#doubted, isCommanded: this.#commanded };
    if (uid !== null && identity !== null) checkIdentity(identity, read, doubts);
    this.#doubted = false;
  }

  async #name(read: Identity): Promise<void> {
    if (this.#state.uid !== null) return;
    const { address, uid } = this.declared;
    const name = uidOf(read, uid, address.host, address.port ?? driverNamed(this.#state.driver)?.ports[0] ?? 0);
    const written = await this.#write({ uid: name, driver: this.#state.driver, identity: read });
    if (written) this.#state = { ...this.#state, uid: name };
  }

  /** Stored only when something has changed. */
  async #rememberShape(): Promise<void> {
    const state = this.#state;
    if (sameShape(state, this.#written)) return;
    const written = await this.#write(shapeOf(state));
    if (written) this.#written = rememberedOf(state);
  }

  /** Stores since when a rig has been unreadable. */
  async #rememberReason(): Promise<void> {
    const { reason } = this.#state;
    if (this.#closed || reason?.code === this.#written.reason?.code) return;
    try {
      if (await this.#write({ reason })) this.#written = { ...this.#written, reason };
    } catch (error) {
      // The reason is already displayed, and can be stored after the next read.
      if (!(error instanceof RigbridgeError)) throw error;
    }
  }

  /** False if the disk is full: reading continues, and the next read tries again. Throws `in.use`. */
  async #write(remembered: Partial<Remembered>): Promise<boolean> {
    try {
      await this.#context.remember(this.id, remembered);
      return true;
    } catch (error) {
      if (error instanceof RigbridgeError && error.code === "store.full") return false;
      throw error;
    }
  }

  #miss(error: RigbridgeError, silence: boolean): void {
    const trouble = this.#state.restarting && unready.has(error.code) ? this.#notBack(error) : troubleOf(error);
    const refused = error.code === "rig.other" || error.code === "in.use";
    const outage = this.#rig?.outage;
    const [expected, away] = [silence || outage === "brief", outage === "lasting"];
    this.#move(refused ? afterRefusal(this.#state, trouble) : afterMiss(this.#state, trouble, expected, away));
    this.#suspect(doubtful.has(trouble.code) || refused);
  }

  #notBack({ message }: RigbridgeError): Trouble {
    const { text, coded } = detail("link.restarting", { at: formatAddress(this.declared.address) });
    return { code: "rig.unreachable", message: text, quoted: `${text} (${message})`, coded };
  }

  /** Other firmware may answer now, perhaps at another port; a driver set by the owner stays. */
  #suspect(isDoubtful: boolean): void {
    if (isDoubtful) this.#doubts += 1;
    if (this.#doubts >= doubtAfter || this.#state.missed % doubtSilenceAfter === 0) {
      this.#doubts = 0;
      this.#mustIdentify = true;
      this.#disconnect();
    }
  }
}
