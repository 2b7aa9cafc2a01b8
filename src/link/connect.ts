import { RigbridgeError } from "../contract/problems.ts";
import type { ControlKey, ControlValue } from "../contract/readings.ts";
import { withCheckedRates } from "./board-rates.ts";
import type { Driver, Locked, Outage, PoolAction, PoolControls, Reading, Rig } from "./driver.ts";
import type { RigFirmware } from "./firmware.ts";
import { isLiquidCooled } from "./identity.ts";
import { KeptParts } from "./kept.ts";
import { hasLogin, type Link } from "./link.ts";
import { withPlausibleRates } from "./plausible-rates.ts";
import { SessionEnded } from "./session-ended.ts";
import { NotOnDevice } from "./transports/http.ts";

/** A driver's rig with the corrections that apply to every family. */
export const connect = (driver: Driver, link: Link): Rig => new CheckedRig(driver.connect(link), link);

/** `Required`, so that a new optional member of `Rig` does not compile until it is passed on here. */
class CheckedRig implements Required<Rig> {
  readonly #rig: Rig;
  readonly #link: Link;
  readonly #refusals: Refusals;
  readonly #kept = new KeptParts();

  constructor(rig: Rig, link: Link) {
    this.#rig = rig;
    this.#link = link;
    this.#refusals = new Refusals(hasLogin(link.credentials), link.firmware);
  }

  async read(signal: AbortSignal): Promise<Reading> {
    const { firmware, monotonicNow } = this.#link;
    const begun = monotonicNow();
    const read = await firmware.read(() => this.#rig.read(signal));
    firmware.recognise(read.identity);
    const reading = withPlausibleRates(withCheckedRates(withoutZeros(withoutDryFans(asItsSwitchSays(read)))));
    return this.#kept.in(this.#refusals.without(reading, begun));
  }

  set(key: ControlKey, value: ControlValue, signal: AbortSignal): Promise<string> {
    return this.#refusals.watch(`control ${key}`, () => this.#rig.set(key, value, signal));
  }

  /** Made for a command, since most rigs never get one for their pools. */
  get pools(): PoolControls {
    return watchedPools(() => this.#rig.pools, this.#refusals);
  }

  get quick(): true | undefined {
    return this.#rig.quick;
  }

  get outage(): Outage | null {
    return this.#rig.outage ?? null;
  }

  doubt(): void {
    this.#rig.doubt?.();
  }

  close(): void {
    this.#rig.close();
  }
}

/**
 * Remembers why commands were refused. Functions that the firmware lacks (HTTP 404) are no longer offered until the
 * firmware changes or the rig restarts; a rejected login is noted with every read until a command succeeds. After a
 * refusal or a restart the rig's capabilities are queried again.
 */
class Refusals {
  readonly #loginGiven: boolean;
  readonly #known: RigFirmware;
  #gone: string[] = [];
  #login: Locked | null = null;
  #firmware: string | null = null;
  #uptime: number | null = null;

  constructor(loginGiven: boolean, known: RigFirmware) {
    this.#loginGiven = loginGiven;
    this.#known = known;
  }

  async watch(what: string, command: () => Promise<string>): Promise<string> {
    try {
      const result = await command();
      this.#login = null;
      return result;
    } catch (error) {
      if (error instanceof NotOnDevice && !this.#gone.includes(what)) this.#gone.push(what);
      if (error instanceof RigbridgeError && refusals.has(error.code)) this.#known.doubt();
      const isLogin = error instanceof RigbridgeError && error.code === "rig.login" && !(error instanceof SessionEnded);
      if (isLogin) this.#login = { why: this.#loginGiven ? "login wrong" : "login missing", text: error.unquoted };
      throw error;
    }
  }

  /** `begun`: when the read began, by the monotonic clock. */
  without(reading: Reading, begun: number): Reading {
    const { firmware } = reading.identity;
    const { uptime } = reading.readings;
    const restarted = uptime !== null && this.#uptime !== null && uptime < this.#uptime;
    if (restarted) this.#known.doubt(begun - uptime * 1000);
    if (restarted || firmware !== this.#firmware) this.#gone = [];
    this.#firmware = firmware;
    this.#uptime = uptime;
    return this.#withLogin(this.#gone.length === 0 ? reading : this.#withoutGone(reading));
  }

  #withoutGone(reading: Reading): Reading {
    return {
      ...reading,
      controls: reading.controls.filter(({ key }) => !this.#gone.includes(`control ${key}`)),
      poolActions: reading.poolActions.filter((action) => !this.#gone.includes(`pool ${action}`)),
    };
  }

  #withLogin(reading: Reading): Reading {
    const login = this.#login;
    if (login === null || reading.locked !== undefined) return reading;
    const { readings } = reading;
    return { ...reading, locked: login, readings: { ...readings, notes: [...readings.notes, login.text] } };
  }
}

/** Codes of commands that the rig, or its driver, did not take. */
const refusals: ReadonlySet<string> = new Set(["rig.refused", "rig.read-only", "control.absent"]);

/** The driver's pool controls, each watched for refusals. They may change with each read. */
function watchedPools(pools: () => PoolControls, refusals: Refusals): PoolControls {
  const on = <K extends PoolAction>(action: K) => ({
    get: () => {
      const act = pools()[action];
      if (act === undefined) return undefined;
      return (...given: Parameters<typeof act>) =>
        refusals.watch(`pool ${action}`, () => Reflect.apply(act, pools(), given));
    },
    enumerable: true,
  });
  return Object.defineProperties({}, Object.fromEntries(poolActions.map((action) => [action, on(action)])));
}

const poolActions: readonly PoolAction[] = ["add", "use", "switch", "enable", "disable", "remove", "prioritize"];

/** `mining` follows the switch: a rig that is switched on and hashes nothing is idle, not stopped. */
function asItsSwitchSays(reading: Reading): Reading {
  const on = reading.controls.find(({ key }) => key === "mining")?.value;
  const { mining } = reading.readings;
  const agree = mining === on || (mining === null && on === true);
  if (typeof on !== "boolean" || agree) return reading;
  return { ...reading, readings: { ...reading.readings, mining: on } };
}

/** Firmware of a liquid-cooled rig may list fans at 0 rpm; such a rig has no fans and no fan control. */
function withoutDryFans(reading: Reading): Reading {
  const { identity, readings, controls } = reading;
  if (!isLiquidCooled(identity.model) || readings.fans.some(({ rpm }) => (rpm ?? 0) > 0)) return reading;
  return { ...reading, readings: { ...readings, fans: [] }, controls: controls.filter(({ key }) => key !== "fan") };
}

/** Boards that are off, or that report no frequency, read 0 MHz. */
function withoutZeros(reading: Reading): Reading {
  const { readings, devices } = reading;
  const isZero = readings.boards.some(({ frequency }) => frequency === 0) || devices.some(({ clock }) => clock === 0);
  if (!isZero) return reading;
  return {
    ...reading,
    readings: {
      ...readings,
      boards: readings.boards.map((board) => (board.frequency === 0 ? { ...board, frequency: null } : board)),
    },
    devices: devices.map((device) => (device.clock === 0 ? { ...device, clock: null } : device)),
  };
}
