import { RigbridgeError } from "../contract/problems.ts";
import type { ControlKey, ControlValue } from "../contract/readings.ts";
import { withCheckedRates } from "./board-rates.ts";
import type { Driver, Locked, PoolAction, PoolControls, Reading, Rig } from "./driver.ts";
import { isLiquidCooled } from "./identity.ts";
import type { Link } from "./link.ts";
import { SessionEnded } from "./session-ended.ts";
import { NotOnDevice } from "./transports/http.ts";

/** A rig as everything but its driver sees it: what was read is made consistent in the same way for every family. */
export const connect = (driver: Driver, link: Link): Rig => new CheckedRig(driver.connect(link), hasLogin(link));

const hasLogin = ({ credentials: { username, password, token } }: Link): boolean =>
  [username, password, token].some((each) => each !== undefined);

/** `Required`, so that whatever a rig can do besides is not forgotten here. */
class CheckedRig implements Required<Rig> {
  readonly #rig: Rig;
  readonly #refusals: Refusals;
  readonly pools: PoolControls;

  constructor(rig: Rig, loginGiven: boolean) {
    this.#rig = rig;
    this.#refusals = new Refusals(loginGiven);
    this.pools = watchedPools(() => rig.pools, this.#refusals);
  }

  async read(signal: AbortSignal): Promise<Reading> {
    const reading = withCheckedRates(withoutZeros(withoutDryFans(asItsSwitchSays(await this.#rig.read(signal)))));
    return this.#refusals.without(reading);
  }

  set(key: ControlKey, value: ControlValue, signal: AbortSignal): Promise<string> {
    return this.#refusals.watch(`control ${key}`, () => this.#rig.set(key, value, signal));
  }

  get quick(): true | undefined {
    return this.#rig.quick;
  }

  doubt(): void {
    this.#rig.doubt?.();
  }

  close(): void {
    this.#rig.close();
  }
}

/**
 * What commands were refused for: what the firmware does not have (HTTP 404) is no longer offered, until there is other
 * firmware or the rig has started anew; and a login that it did not take is said with every read until it takes one.
 */
class Refusals {
  readonly #loginGiven: boolean;
  readonly #gone = new Set<string>();
  #login: Locked | null = null;
  #firmware: string | null = null;
  #uptime: number | null = null;

  constructor(loginGiven: boolean) {
    this.#loginGiven = loginGiven;
  }

  async watch(what: string, command: () => Promise<string>): Promise<string> {
    try {
      const said = await command();
      this.#login = null;
      return said;
    } catch (error) {
      if (error instanceof NotOnDevice) this.#gone.add(what);
      const isLogin = error instanceof RigbridgeError && error.code === "rig.login" && !(error instanceof SessionEnded);
      if (isLogin) this.#login = { why: this.#loginGiven ? "login wrong" : "login missing", text: error.unquoted };
      throw error;
    }
  }

  without(reading: Reading): Reading {
    const { firmware } = reading.identity;
    const { uptime } = reading.readings;
    const isOther = firmware !== this.#firmware || (uptime !== null && this.#uptime !== null && uptime < this.#uptime);
    if (isOther) this.#gone.clear();
    this.#firmware = firmware;
    this.#uptime = uptime;
    return this.#withLogin(this.#gone.size === 0 ? reading : this.#withoutGone(reading));
  }

  #withoutGone(reading: Reading): Reading {
    return {
      ...reading,
      controls: reading.controls.filter(({ key }) => !this.#gone.has(`control ${key}`)),
      poolActions: reading.poolActions.filter((action) => !this.#gone.has(`pool ${action}`)),
    };
  }

  #withLogin(reading: Reading): Reading {
    const login = this.#login;
    if (login === null || reading.locked !== undefined) return reading;
    const { readings } = reading;
    return { ...reading, locked: login, readings: { ...readings, notes: [...readings.notes, login.text] } };
  }
}

/** What can be done to pools now, watched. A driver may offer other actions with each read. */
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

/** A rig that is switched on and hashes nothing is idle, not stopped: whether it mines is what its switch says. */
function asItsSwitchSays(reading: Reading): Reading {
  const on = reading.controls.find(({ key }) => key === "mining")?.value;
  const { mining } = reading.readings;
  const agree = mining === on || (mining === null && on === true);
  if (typeof on !== "boolean" || agree) return reading;
  return { ...reading, readings: { ...reading.readings, mining: on } };
}

/** Firmware of a rig that is cooled by a liquid may list fans at 0 rpm; it has none, and none to set. */
function withoutDryFans(reading: Reading): Reading {
  const { identity, readings, controls } = reading;
  if (!isLiquidCooled(identity.model) || readings.fans.some(({ rpm }) => (rpm ?? 0) > 0)) return reading;
  return { ...reading, readings: { ...readings, fans: [] }, controls: controls.filter(({ key }) => key !== "fan") };
}

/** A board that is off, or that does not tell, says 0 MHz. */
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
