import type { AsicModel } from "../../../catalogue/asic-models.ts";
import type { Board, Fan } from "../../../contract/readings.ts";
import type { DeviceReading } from "../../driver.ts";
import type { TolerantReader } from "../../tolerant-reader.ts";
import { boardDevice } from "./board-device.ts";
import { megahertz, total } from "./figures.ts";
import { statedUnit, unitsOf } from "./rate-units.ts";

/** What Bitmain's `stats` adds to plain cgminer: boards, fans and the rated speed. */
export interface BitmainStats {
  readonly boards: Board[];
  readonly fans: Fan[];
  /** H/s. */
  readonly hashrateExpected: number | null;
  /** W; only firmware of other makers reports it here. */
  readonly power: number | null;
  /** The state of its power supply where that is a fault, in its own words. */
  readonly supplyFault: string | null;
  readonly isTuning: boolean;
  /** H/s that a G of this rig means, where its statistics state a unit. */
  readonly stated: number | null;
  /** By board. */
  readonly hardwareErrors: readonly (number | null)[];
  /** The fields that a summary also has: `GHS 5s`, `GHS av`, `Elapsed`. */
  readonly summary: TolerantReader;
}

/** Slots are numbered from 1, on an S9 from 6; no rig has more. */
const slots = Array.from({ length: 16 }, (_, index) => index + 1);

/** null when no element of `stats` describes chains of chips. */
export function bitmainStats(stats: readonly TolerantReader[], model: AsicModel | null): BitmainStats | null {
  const chains = stats.find((reply) => reply.has("chain_acn1") || reply.has("chain_acn6"));
  if (chains === undefined) return null;
  const stated = statedUnit(chains);
  // Scrypt rigs of other makers report `MHS 5s` there, and their boards in the same unit.
  const prefix = chains.has("MHS 5s") || chains.has("MHS av") ? "M" : "G";
  const unitFor = (written: number | null): number =>
    (prefix === "G" ? stated : null) ?? unitsOf(model, () => written)[prefix] ?? 1;
  const present = slots.filter((slot) => (chains.integer(`chain_acn${slot}`) ?? 0) > 0);
  const ofBoards = unitFor(total(present.map((slot) => chains.number(`chain_rate${slot}`))));
  return {
    boards: present.map((slot) => board(chains, slot, ofBoards)),
    fans: fans(chains),
    hashrateExpected: chains.number("total_rateideal", { times: unitFor(chains.number("total_rateideal")), absent: 0 }),
    power: power(chains, present),
    supplyFault: supplyFault(chains),
    isTuning: chains.has("tune_running") && chains.boolean("tune_running") === true,
    stated,
    hardwareErrors: present.map((slot) => chains.integer(`chain_hw${slot}`)),
    summary: chains,
  };
}

function board(chains: TolerantReader, slot: number, unit: number): Board {
  const found = chains.integer(`chain_acn${slot}`) ?? 0;
  const broken = chains.text(`chain_acs${slot}`, 1000)?.replace(/[^xX]/g, "").length ?? 0;
  return {
    slot,
    hashrate: chains.number(`chain_rate${slot}`, { times: unit }),
    temperature: hottest(chains, `temp_pcb${slot}`) ?? temperature(chains, `temp${slot}`),
    chipTemperature: hottest(chains, `temp_chip${slot}`) ?? temperature(chains, `temp2_${slot}`),
    chips: found - Math.min(broken, found),
    chipsExpected: broken > 0 ? found : null,
    frequency: frequency(chains, slot),
    voltage:
      chains.number(`chain_vol${slot}`, { times: 1e-3, absent: 0, max: 100 }) ??
      chains.number(`chain_voltage${slot}`, { absent: 0, max: 100 }),
    serial: null,
  };
}

/** Of the rig, or of its boards. Hiveon's `chain_power` is a text that begins with the total: "1240 (3 x 413)". */
function power(chains: TolerantReader, present: readonly number[]): number | null {
  const named = chains.number("total_power", { absent: 0 }) ?? chains.number("power", { absent: 0 });
  if (named !== null) return named;
  const begin = Number.parseFloat(chains.text("chain_power") ?? "");
  if (begin > 0) return begin;
  const ofBoards = present.map((slot) => chains.number(`chain_power${slot}`, { absent: 0 }));
  return ofBoards.includes(null) ? null : total(ofBoards);
}

function supplyFault(chains: TolerantReader): string | null {
  const state = chains.text("psu_status");
  return state === null || /\bok\b/i.test(state) ? null : state;
}

/** Under the names of all generations. */
const frequency = (chains: TolerantReader, slot: number): number | null =>
  [`freq${slot}`, `freq_avg${slot}`, `frequency${slot}`, "frequency"].reduce<number | null>(
    (known, key) => known ?? megahertz(chains, key),
    null,
  );

/** 0 and 255 mean that a sensor does not answer. */
const isTemperature = (celsius: number): boolean => celsius > 0 && celsius < 255;

/** A board without sensors may report 0, or a word. */
function temperature(chains: TolerantReader, key: string): number | null {
  const celsius = chains.number(key, { min: -60, max: 255 });
  return celsius !== null && isTemperature(celsius) ? celsius : null;
}

/** The highest of "44-43-52-51". */
function hottest(chains: TolerantReader, key: string): number | null {
  const written = chains.text(key) ?? "";
  const sensors = written.split("-").map(Number).filter(isTemperature);
  return sensors.length === 0 ? null : Math.max(...sensors);
}

/**
 * Sockets are numbered with gaps (3 and 6 on an S9) and empty ones read 0 rpm, so `fan_num` decides how many of those
 * are fans. A liquid-cooled rig has none.
 */
function fans(chains: TolerantReader): Fan[] {
  const percent = chains.number("fan_pwm", { max: 100 });
  const turning = slots.flatMap((slot) => chains.number(`fan${slot}`, { absent: 0 }) ?? []);
  const standing = Math.min(Math.max((chains.integer("fan_num") ?? 0) - turning.length, 0), slots.length);
  return [...turning, ...Array<number>(standing).fill(0)].map((rpm) => ({ rpm, percent }));
}

/** Bitmain lists the whole rig as one device in `devs`, so its boards are shown instead. */
export const bitmainDevice = (board: Board, hardwareErrors: number | null): DeviceReading =>
  boardDevice(board, { status: board.chips === 0 ? "dead" : "enabled", hardwareErrors });
