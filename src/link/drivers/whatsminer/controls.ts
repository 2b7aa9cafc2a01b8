import { choice, type OfferedControl, range, toggle, trigger } from "../../controls.ts";
import { type Dialect, modes, type Report } from "./dialect.ts";

/** What the miner program restarts for; it is back in a minute, and at its full rate some minutes later. */
const restarting = { restartsMining: true, seconds: 90 };
const atOnce = { lasting: false, restartsMining: false, seconds: 5 };

/** What can be set, from what the device says of itself. */
export function offers(
  dialect: Dialect,
  { readings, throttle, throttles }: Report,
  bounds: Bounds | null,
): OfferedControl[] {
  const { mining, mode, powerLimit, locate } = readings;
  return [
    {
      control: toggle("mining", mining, { lasting: false, restartsMining: true, seconds: 60 }),
      set: (on, signal) => dialect.mine(on === true, signal),
    },
    {
      control: trigger("restart", { lasting: false, ...restarting }),
      set: (_, signal) => dialect.restart(signal),
    },
    {
      control: trigger("reboot", { lasting: false, restartsMining: true, seconds: 180 }),
      set: (_, signal) => dialect.reboot(signal),
    },
    {
      control: choice("mode", [...modes], mode, { lasting: true, ...restarting }),
      set: (wanted, signal) => dialect.setMode(modes.find((each) => each === wanted) ?? "normal", signal),
    },
    ...(bounds === null
      ? []
      : [
          {
            control: range(
              "power_limit",
              { unit: "W", min: bounds.min, max: bounds.max, step: 1, value: powerLimit },
              { lasting: true, ...restarting },
            ),
            set: (watts, signal) => dialect.limitPower(Number(watts), signal),
          } satisfies OfferedControl,
        ]),
    ...(throttles
      ? [
          {
            // 0 is allowed too, but to stop it there is `mining`.
            control: range("throttle", { unit: "%", min: 1, max: 100, step: 1, value: throttle }, atOnce),
            set: (percent, signal) => dialect.throttle(Number(percent), signal),
          } satisfies OfferedControl,
        ]
      : []),
    {
      control: toggle("locate", locate, atOnce),
      set: (on, signal) => dialect.locate(on === true, signal),
    },
  ];
}

export interface Bounds {
  readonly min: number;
  readonly max: number;
}

/**
 * Between what its power can be limited. The firmware takes 0 to 99999 W and keeps to itself what it can do; above its
 * ordinary power a limit does nothing (API 3.0, get.miner.setting). So the highest is the most that was seen of
 * this device: its limit, what it drew, or what it would take for the hash rate it was sold with; the lowest is a part
 * of that. In whole hundreds, so that they stand still.
 */
export class PowerBounds {
  #highest = 0;
  /** Whether it was seen working at its ordinary power. */
  #seenFree = false;

  seen(report: Report): Bounds | null {
    const { power, powerLimit } = report.readings;
    const estimate = atFactoryRate(report);
    if (estimate !== null) {
      const isFree = powerLimit === null || powerLimit >= 0.9 * estimate;
      if (isFree) this.#raise(Math.max(estimate, power ?? 0), wavering);
      else if (!this.#seenFree) this.#raise(estimate * thrift, wavering);
      this.#seenFree ||= isFree;
    }
    this.#raise(powerLimit ?? 0, 1);
    if (this.#highest === 0) return null;
    const min = Math.ceil((this.#highest * lowestPart) / hundred) * hundred;
    // Someone may have set it lower by hand.
    return { min: Math.min(min, powerLimit ?? min), max: this.#highest };
  }

  #raise(watts: number, beyond: number): void {
    if (watts > mostPossible || watts <= this.#highest * beyond) return;
    this.#highest = Math.ceil(watts / hundred) * hundred;
  }
}

/** W for the hash rate it was sold with, by what it takes for the present one; null while that says nothing. */
function atFactoryRate({ readings: { hashrate, hashrateExpected, power }, settled }: Report): number | null {
  if (!settled || power === null || power === 0 || hashrate === null || hashrateExpected === null) return null;
  const watts = (power / hashrate) * hashrateExpected;
  // What is far off is a fault of the device and no measure.
  return watts > power / 2 && watts < power * 4 ? watts : null;
}

const hundred = 100;
/** Of the highest power. No document says how low it can go; this much is taken for possible. */
const lowestPart = 0.3;
/** What is measured wavers by a few percent. */
const wavering = 1.05;
/** Held to less it takes less for the same work; taken for this factor, since too much does no harm. */
const thrift = 1.2;
/** W; the largest that there are take a sixth of it. */
const mostPossible = 60_000;
