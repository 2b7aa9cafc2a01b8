import type { ReasonCode, RigReadings } from "../contract/readings.ts";
import type { Detail } from "../messages/coded-text.ts";
import { detail } from "../messages/detail.ts";
import type { Halt, PoolReading, Reading } from "./driver.ts";

/** What firmware writes for each reason, in its sentences and codes; the first match counts. */
const words: readonly (readonly [RegExp, ReasonCode])[] = [
  [/licen[cs]e/i, "licence"],
  [/cool(ing)?[ _-]?down|cooling off/i, "cooling"],
  [/pre-?heat|warm(ing)?[ _-]?up|delayed[ _]start/i, "warming"],
  [/too cold|low[ _-]temp|temp\w*[ _](is )?(too )?low|under[ _-]?temp/i, "cold"],
  [/too hot|over[ _-]?heat|over[ _-]?temp|high[ _-]temp|temp\w*[ _](is )?(too )?high|thermal/i, "hot"],
  [/\bpools?\b|stratum/i, "pools"],
  [/\b(network|ethernet|dns|internet)\b/i, "network"],
  [/\b(upgrad|updat)(e|ing)\b/i, "updating"],
  [/\b(auto-?)?tun(e|er|ing)\b/i, "tuning"],
  [/no (input )?power|power (loss|lost|failure)|input voltage\b.*\blow/i, "no-power"],
  [/\bpower[ _-]limit|curtail/i, "power-limit"],
  [/\buser\b/i, "user"],
];

/** The reason in a firmware's own words; null where they name none. */
export const reasonIn = (text: string): ReasonCode | null => words.find(([word]) => word.test(text))?.[1] ?? null;

/** A reason in this program's own words. */
export const halt = (code: ReasonCode, { text, coded }: Detail): Halt => ({ code, text, coded });

export const stopped = halt("user", detail("reason.stopped"));

export const noPoolAnswers = halt("pools", detail("reason.noPoolAnswers"));

export const tuning = halt("tuning", detail("reason.tuning"));

/** Reason by the firmware's own words; `otherwise` where they name none. */
export const haltBy = (text: string, otherwise: ReasonCode): Halt => ({ code: reasonIn(text) ?? otherwise, text });

/** A rig that does not hash yet within this uptime is starting. */
const startingSeconds = 120;

/** These fields of a reading, and of its readings. */
type OfReading<K extends keyof Reading, R extends keyof RigReadings> = Pick<Reading, K> & {
  readonly readings: Pick<RigReadings, R>;
};

/** Whether its switch is off. */
export function isStopped({ controls, readings: { mining } }: OfReading<"controls", "mining">): boolean {
  const control = controls.find(({ key }) => key === "mining");
  return control !== undefined && (control.value ?? mining) === false;
}

/** Whether it has only just begun to mine. */
export const isStarting = ({ starting, readings: { uptime } }: OfReading<"starting", "uptime">): boolean =>
  starting === true || (uptime !== null && uptime < startingSeconds);

/** Why a rig does not hash, from one read; null while it hashes, and where its hash rate and switch are unknown. */
export function haltOf(reading: Reading): Halt | null {
  const { hashrate, mining, errors } = reading.readings;
  if (reading.off === true) return halt("no-power", detail("reason.plugOff"));
  // A mining program that does not answer: its hash rate is unknown.
  if (reading.halt?.code === "program") return reading.halt;
  const isOff = isStopped(reading);
  if (!isOff && (hashrate === null ? mining !== false : hashrate > 0)) return null;
  if (reading.halt !== undefined) return reading.halt;
  if (isOff) return stopped;
  if (isStarting(reading)) return halt("warming", detail("reason.starting"));
  return poolHalt(reading.pools) ?? errorHalt(errors) ?? halt("unknown", detail("reason.none"));
}

/** A halt if all of its own pools for the first algorithm are dead or disabled; otherwise null. */
export function poolHalt(pools: readonly PoolReading[]): Halt | null {
  const own = pools.filter(({ devFee, dual }) => !devFee && dual !== true);
  if (own.length === 0 || own.some(({ status }) => status === "enabled")) return null;
  const isDead = own.some(({ status }) => status === "dead");
  return isDead ? noPoolAnswers : halt("pools", detail("reason.poolsDisabled"));
}

/** The first error with a reason, otherwise the first error. */
function errorHalt(errors: Reading["readings"]["errors"]): Halt | null {
  const halts = errors.map(({ code, text }) => ({ code: reasonIn(text) ?? reasonIn(code), text }));
  const [first] = halts;
  if (first === undefined) return null;
  const { code, text } = halts.find((halt) => halt.code !== null) ?? first;
  return { code: code ?? "hardware", text };
}
