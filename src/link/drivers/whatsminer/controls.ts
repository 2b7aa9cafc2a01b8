import type { Range } from "../../../contract/ranges.ts";
import type { Control } from "../../../contract/readings.ts";
import { choice, type OfferedControl, range, toggle, trigger } from "../../controls.ts";
import { type Dialect, modes, type Snapshot } from "./dialect.ts";

/** The mining program restarts; it is back in a minute and at full rate some minutes later. */
const restarting = { restartsMining: true, seconds: 90 };
const atOnce = { lasting: false, restartsMining: false, seconds: 5 };

/** The controls that the device's snapshot supports. */
export function offers(
  dialect: Dialect,
  { readings, throttle, throttles }: Snapshot,
  powerBounds: PowerBounds,
): OfferedControl[] {
  const { mining, mode, powerLimit, locate } = readings;
  const bounds = powerBounds.range;
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
            set: async (watts, signal) => {
              const answer = await dialect.limitPower(Number(watts), signal);
              powerBounds.accepted(Number(watts));
              return answer;
            },
          } satisfies OfferedControl,
        ]),
    ...(throttles
      ? [
          {
            // 0 is allowed too, but `mining` stops it.
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

/**
 * The range of the power limit. The firmware accepts 0 to 99999 W and does not report what is possible; above its
 * ordinary power a limit has no effect (API 3.0, get.miner.setting). So the maximum is the most seen of this device:
 * its limit, its power, or the estimated power for its rated hash rate; the minimum is a share of that. Both are
 * rounded to hundreds so that they stay constant, and go on from those of an earlier connection: a rig that was lowered
 * shows only its lower limit until it has ramped up again. A device that accepts a limit above its ordinary power
 * reports its ordinary power instead: that is the maximum then, for as long as it stays in this mode.
 */
export class PowerBounds {
  #highest: number;
  /** The lowest limit seen, which may have been set by hand. */
  #lowestLimit = Number.POSITIVE_INFINITY;
  /** Whether it was seen at its ordinary power. */
  #wasFree = false;
  /** A higher limit that it accepted and has not reported yet. */
  #accepted: { readonly watts: number; readonly before: LimitRead; readonly at: number } | null = null;
  /** The limit that it reports instead of a higher one. */
  #ceiling: { readonly watts: number; readonly mode: string | null } | null = null;
  /** From the last read; null if it reported no limit. */
  #last: LimitRead | null = null;

  constructor(known: readonly Control[]) {
    const limit = known.find(({ key, kind }) => key === "power_limit" && kind === "range");
    this.#highest = limit?.max ?? 0;
    if (limit !== undefined && (limit.min ?? 0) < shareOf(this.#highest)) this.#lowestLimit = limit.min ?? 0;
  }

  /** Null while nothing is known. */
  get range(): Range | null {
    if (this.#highest === 0) return null;
    const min = Math.min(shareOf(this.#highest), this.#lowestLimit);
    return { min, max: Math.min(this.#highest, this.#ceiling?.watts ?? this.#highest) };
  }

  /** The device has accepted this limit, W. */
  accepted(watts: number): void {
    const before = this.#last;
    this.#accepted = before === null || watts <= before.watts ? null : { watts, before, at: performance.now() };
  }

  update(snapshot: Snapshot): void {
    const { power, powerLimit, mode, uptime } = snapshot.readings;
    const estimate = atFactoryRate(snapshot);
    if (estimate !== null) {
      const isFree = powerLimit === null || powerLimit >= 0.9 * estimate;
      if (isFree) this.#raise(Math.max(estimate, power ?? 0), variation);
      else if (!this.#wasFree && this.#highest < estimate) this.#raise(estimate * efficiencyGain, variation);
      this.#wasFree ||= isFree;
    }
    this.#raise(powerLimit ?? 0, 1);
    this.#last = powerLimit === null ? null : { watts: powerLimit, mode, uptime };
    if (this.#last === null) return;
    this.#lowestLimit = Math.min(this.#lowestLimit, this.#last.watts);
    this.#learnCeiling(this.#last);
  }

  #learnCeiling(now: LimitRead): void {
    const isOver = this.#ceiling?.mode !== now.mode || now.watts > this.#ceiling.watts;
    if (isOver) this.#ceiling = null;
    if (this.#accepted === null) return;
    const { watts, before, at } = this.#accepted;
    if (now.watts < watts && now.watts >= before.watts) {
      const seconds = (performance.now() - at) / 1000;
      // It restarts for a limit that has an effect, so until then it may report the old one.
      if (now.watts === before.watts && !hasRestarted(before, now, seconds) && seconds < withoutEffectSeconds) return;
      this.#ceiling = { watts: now.watts, mode: now.mode };
    }
    this.#accepted = null;
  }

  #raise(watts: number, beyond: number): void {
    if (watts > mostPossible || watts <= this.#highest * beyond) return;
    this.#highest = Math.ceil(watts / hundred) * hundred;
  }
}

/** What one read shows of the limit. */
interface LimitRead {
  readonly watts: number;
  readonly mode: string | null;
  readonly uptime: number | null;
}

/** Whether it has restarted in the `seconds` between two reads. */
const hasRestarted = (before: LimitRead, now: LimitRead, seconds: number): boolean =>
  now.uptime !== null && (now.uptime < seconds || (before.uptime !== null && now.uptime < before.uptime));

/** W for the rated hash rate, extrapolated from the present one; null while that is not meaningful. */
function atFactoryRate({ readings: { hashrate, hashrateExpected, power }, settled }: Snapshot): number | null {
  if (!settled || power === null || power === 0 || hashrate === null || hashrateExpected === null) return null;
  const watts = (power / hashrate) * hashrateExpected;
  // A value far off indicates a fault of the device.
  return watts > power / 2 && watts < power * 4 ? watts : null;
}

const hundred = 100;
/** Share of the highest power. The lowest possible limit is not documented. */
const lowestShare = 0.3;
const shareOf = (highest: number): number => Math.ceil((highest * lowestShare) / hundred) * hundred;
/** Measurements vary by a few percent. */
const variation = 1.05;
/** A limited device is more efficient by up to this factor; too high a value does no harm. */
const efficiencyGain = 1.2;
/** s after which a limit that is not reported and for which the device did not restart has no effect. */
const withoutEffectSeconds = 60;
/** W; six times the power of the largest device. */
const mostPossible = 60_000;
