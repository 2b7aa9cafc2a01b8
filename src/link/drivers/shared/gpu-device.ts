import type { Dual, RigReadings } from "../../../contract/readings.ts";
import type { DeviceReading } from "../../driver.ts";
import type { NumberRule, TolerantReader } from "../../tolerant-reader.ts";
import { unknownDevice } from "./board-device.ts";
import { highest, total } from "./figures.ts";

/** A graphics card with its known values. */
export const gpuDevice = (known: Partial<DeviceReading> & Pick<DeviceReading, "name">): DeviceReading => ({
  ...unknownDevice,
  kind: "gpu",
  ...known,
});

/** How programs write the figures of a card; unknown figures are 0, but a fan may really be at 0. */
export const gpuRules = {
  temperature: { absent: 0, max: 250 },
  power: { absent: 0, max: 5_000 },
  fanPercent: { max: 100 },
  megahertz: { times: 1e6, absent: 0, max: 1e11 },
} as const;

/** How the figures of a card are read, and in which unit; those of shares are whole numbers. */
const figures = [
  ["hashrate", {}],
  ["hashrateAverage", {}],
  ["temperature", gpuRules.temperature],
  ["memoryTemperature", gpuRules.temperature],
  ["fanPercent", gpuRules.fanPercent],
  ["power", gpuRules.power],
  ["clock", gpuRules.megahertz],
  ["memoryClock", gpuRules.megahertz],
  ["activity", gpuRules.fanPercent],
] as const;
const counts = ["accepted", "rejected", "hardwareErrors"] as const;

type Figure = (typeof figures)[number][0];
type Count = (typeof counts)[number];

/** The fields in which a program writes the figures of a card, with a rule where it writes one in its own way. */
export type CardFields = Readonly<
  Partial<Record<Figure, string | readonly [field: string, rule: NumberRule]> & Record<Count | "bus", string>>
>;

/** The figures of a card by a table of their fields. */
export function cardFigures(card: TolerantReader, fields: CardFields): Partial<DeviceReading> {
  const known: Partial<Record<Figure | Count | "bus", number | null>> = {};
  for (const [figure, usual] of figures) {
    const field = fields[figure];
    if (field === undefined) continue;
    const [key, rule] = typeof field === "string" ? [field, usual] : [field[0], { ...usual, ...field[1] }];
    known[figure] = card.number(key, rule);
  }
  for (const count of counts) if (fields[count] !== undefined) known[count] = card.integer(fields[count]);
  if (fields.bus !== undefined) known.bus = busOf(card, fields.bus);
  return known;
}

/** Reads a card whose figures are all in one object; `name` is the field of its name. */
export const cardReader =
  ({ name, ...fields }: CardFields & { readonly name: string }) =>
  (card: TolerantReader, position: number): DeviceReading =>
    gpuDevice({ name: card.text(name) ?? `GPU ${position}`, ...cardFigures(card, fields) });

/** `domain:bus:device.function`, each part hexadecimal; the domain and the function may be missing. */
const busId = /^(?:[0-9a-f]{1,8}:)?([0-9a-f]{1,2}):[0-9a-f]{1,2}(?:\.[0-7])?$/i;

/**
 * The number of a PCI bus: of a text such as "0000:0A:00.0", "0a:00.0" or "a:0", whose digits are hexadecimal, or the
 * number itself, which is decimal. null where it is neither.
 */
export function busOf(reply: TolerantReader, key: string): number | null {
  const text = reply.isText(key) ? (reply.text(key, 32) ?? "") : "";
  if (!text.includes(":")) return reply.integer(key, { max: 255 });
  const digits = busId.exec(text)?.[1];
  if (digits !== undefined) return Number.parseInt(digits, 16);
  reply.notes.add(`${key} is not a PCI bus id`);
  return null;
}

/**
 * Readings of a rig that follow from its cards. Its power is unknown unless each card in use reports its own, and does not
 * include the rest of the computer.
 */
export function readingsOfCards(
  cards: readonly DeviceReading[],
): Pick<RigReadings, "temperature" | "power" | "powerSource" | "fans"> {
  const used = cards.filter(({ kind, status }) => kind === "gpu" && status === "enabled");
  const isKnown = used.length > 0 && used.every(({ power }) => power !== null);
  const power = isKnown ? total(cards.map((card) => card.power)) : null;
  return {
    temperature: highest(cards.map(({ temperature }) => temperature)),
    power,
    powerSource: power === null ? null : "reported",
    fans: cards.flatMap(({ fanRpm, fanPercent }) =>
      fanRpm === null && fanPercent === null ? [] : [{ rpm: fanRpm, percent: fanPercent }],
    ),
  };
}

/** The name of the cards as a model: "6 x RTX 3070, 2 x RTX 3080"; null without cards. */
export function modelOfCards(cards: readonly DeviceReading[]): string | null {
  const counts = new Map<string, number>();
  for (const { kind, name } of cards) {
    if (kind === "gpu") counts.set(name, (counts.get(name) ?? 0) + 1);
  }
  const parts = [...counts].map(([name, count]) => (count === 1 ? name : `${count} x ${name}`));
  return parts.length === 0 ? null : parts.join(", ").slice(0, 200).toWellFormed();
}

/** The second algorithm with its known values. */
export const dualWork = (
  known: Partial<Omit<Dual, "shares">> & { readonly shares?: Partial<Dual["shares"]> },
): Dual => ({
  algorithm: known.algorithm ?? null,
  hashrate: known.hashrate ?? null,
  hashrateAverage: known.hashrateAverage ?? null,
  shares: { accepted: null, rejected: null, hardwareErrors: null, ...known.shares },
});
