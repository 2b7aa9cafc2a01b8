/** The stored part of a reading; null where the rig did not report the value. */
export interface Sample {
  readonly minerId: number;
  /** epoch ms */
  readonly time: number;
  /** H/s */
  readonly hashrate: number | null;
  /** W */
  readonly power: number | null;
  /** °C */
  readonly temperature: number | null;
  /** Wh, the counter at that time */
  readonly energy: number | null;
}

/**
 * Many samples of one miner as bytes: the format's number, then 24 bytes for each, little-endian: time as ms after
 * `base` (u32), hash rate, power and temperature (f32, 7 digits), energy (f64); NaN stands for null.
 */
const format = 1;
export const sampleSize = 24;

/** `samples` lie between `base` and 49 days later. */
export const pack = (samples: readonly Sample[], base: number): Uint8Array => {
  const bytes = new Uint8Array(1 + samples.length * sampleSize);
  const view = new DataView(bytes.buffer);
  view.setUint8(0, format);
  let at = 1;
  for (const { time, hashrate, power, temperature, energy } of samples) {
    view.setUint32(at, time - base, true);
    view.setFloat32(at + 4, hashrate ?? Number.NaN, true);
    view.setFloat32(at + 8, power ?? Number.NaN, true);
    view.setFloat32(at + 12, temperature ?? Number.NaN, true);
    view.setFloat64(at + 16, energy ?? Number.NaN, true);
    at += sampleSize;
  }
  return bytes;
};

/** Receives a sample as numbers, NaN for null: objects for 200,000 of them would take ten times as long. */
export type TakeSample = (time: number, hashrate: number, power: number, temperature: number, energy: number) => void;

/** Calls `take` with the samples of a pack, oldest first; with none if the format is unknown. */
export const eachPacked = (bytes: Uint8Array, base: number, take: TakeSample): void => {
  if (bytes[0] !== format) return;
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  for (let at = 1; at + sampleSize <= bytes.length; at += sampleSize)
    take(
      base + view.getUint32(at, true),
      view.getFloat32(at + 4, true),
      view.getFloat32(at + 8, true),
      view.getFloat32(at + 12, true),
      view.getFloat64(at + 16, true),
    );
};

export const takeSample = ({ time, hashrate, power, temperature, energy }: Sample, take: TakeSample): void =>
  take(time, hashrate ?? Number.NaN, power ?? Number.NaN, temperature ?? Number.NaN, energy ?? Number.NaN);

/** Collects samples as objects in a list. */
export const collecting =
  (samples: Sample[], minerId: number): TakeSample =>
  (time, hashrate, power, temperature, energy) => {
    samples.push({
      minerId,
      time,
      hashrate: orNull(hashrate),
      power: orNull(power),
      temperature: orNull(temperature),
      energy: orNull(energy),
    });
  };

const orNull = (number: number): number | null => (Number.isNaN(number) ? null : number);

/** Merges samples by time; where both have the same time, `newer` counts. */
export const merge = (older: readonly Sample[], newer: readonly Sample[]): Sample[] =>
  [...new Map([...older, ...newer].map((sample) => [sample.time, sample])).values()].sort((a, b) => a.time - b.time);

/** The mean of samples, at `time`; energy is the first value of the counter, so that differences stay correct. */
export const mean = (samples: readonly Sample[], minerId: number, time: number): Sample => ({
  minerId,
  time,
  hashrate: meanOf(samples.map(({ hashrate }) => hashrate)),
  power: meanOf(samples.map(({ power }) => power)),
  temperature: meanOf(samples.map(({ temperature }) => temperature)),
  energy: samples.find(({ energy }) => energy !== null)?.energy ?? null,
});

const meanOf = (figures: readonly (number | null)[]): number | null => {
  const present = figures.filter((figure) => figure !== null);
  return present.length === 0 ? null : present.reduce((sum, figure) => sum + figure, 0) / present.length;
};
