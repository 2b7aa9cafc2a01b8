/**
 * ASIC miners by model: algorithm, nameplate hash rate, and the meaning of the prefixes in their rates where it is
 * unusual. Sources: manufacturers' data sheets; units from recorded answers.
 */
export interface AsicModel {
  readonly algorithm: string;
  /** H/s or Sol/s; of several versions, a middle one. Null if only the series is known. */
  readonly nameplate: number | null;
  readonly units: RateUnits;
}

/**
 * The H/s or Sol/s that a prefix means: Bitmain calls every rate GHS, even one in MH/s. Several if the firmware of one
 * model varies.
 */
export type RateUnits = Readonly<Partial<Record<"M" | "G", readonly [number, ...number[]]>>>;

const usual: RateUnits = {};
const gigaIsMega: RateUnits = { G: [1e6] };
/** Firmware of one model counts either thousands of solutions or single ones. */
const gigaIsSolutions: RateUnits = { G: [1e3, 1] };

type Row = readonly [name: string, algorithm: string, nameplate: number | null, units?: RateUnits];

/** By manufacturer: the beginning of the model's name, where # is any digit. Of several matches the longest counts. */
const rows: Readonly<Record<string, readonly Row[]>> = {
  Antminer: [
    ["S#", "sha256", null],
    ["T#", "sha256", null],
    ["L#", "scrypt", null],
    ["D#", "x11", null],
    ["Z#", "equihash", null, gigaIsSolutions],
    ["E#", "ethash", null, gigaIsMega],
    ["S5", "sha256", 1.155e12],
    ["S7", "sha256", 4.73e12],
    ["S9", "sha256", 13.5e12],
    ["S11", "sha256", 20.5e12],
    ["S15", "sha256", 28e12],
    ["S17", "sha256", 56e12],
    ["S19", "sha256", 100e12],
    ["S19 XP", "sha256", 141e12],
    ["S19 Hyd", "sha256", 158e12],
    ["S19 Pro+ Hyd", "sha256", 191e12],
    ["S19 XP Hyd", "sha256", 257e12],
    ["S21", "sha256", 200e12],
    ["S21 XP", "sha256", 270e12],
    ["S21 Hyd", "sha256", 335e12],
    ["S21 XP Hyd", "sha256", 473e12],
    ["S21e XP Hyd", "sha256", 430e12],
    ["S23", "sha256", 318e12],
    ["S23 Hyd", "sha256", 580e12],
    ["T9", "sha256", 11.5e12],
    ["T15", "sha256", 23e12],
    ["T17", "sha256", 42e12],
    ["T19", "sha256", 88e12],
    ["T21", "sha256", 190e12],
    ["L3", "scrypt", 504e6, gigaIsMega],
    ["L7", "scrypt", 9.05e9],
    ["L9", "scrypt", 16e9],
    ["L11", "scrypt", 20e9],
    ["D3", "x11", 17e9, gigaIsMega],
    ["D5", "x11", 119e9],
    ["D7", "x11", 1_286e9],
    ["D9", "x11", 1_770e9],
    ["Z9 Mini", "equihash", 10e3, gigaIsSolutions],
    ["Z9", "equihash", 41e3, gigaIsSolutions],
    ["Z11", "equihash", 135e3, gigaIsSolutions],
    ["Z15", "equihash", 420e3, gigaIsSolutions],
    ["Z15 Pro", "equihash", 840e3, gigaIsSolutions],
    ["E3", "ethash", 190e6, gigaIsMega],
    ["E9", "ethash", 2.4e9, gigaIsMega],
    ["E9 Pro", "ethash", 3.68e9, gigaIsMega],
    ["E11", "ethash", 9e9, gigaIsMega],
    ["K5", "eaglesong", 1.13e12],
    ["K7", "eaglesong", 63.5e12],
    ["KA3", "blake2s-kadena", 166e12],
    ["KS3", "kheavyhash", 9.4e12],
    ["KS5", "kheavyhash", 20e12],
    ["KS7", "kheavyhash", 40e12],
    ["HS3", "handshake", 9e12],
    ["AL1", "blake3-alephium", 15.6e12],
    ["A3", "blake2b-sia", 815e9],
    ["B3", "tensority", 780, { G: [1] }],
  ],
  WhatsMiner: [
    ["M20S", "sha256", 68e12],
    ["M21S", "sha256", 56e12],
    ["M30S", "sha256", 88e12],
    ["M30S+", "sha256", 100e12],
    ["M30S++", "sha256", 112e12],
    ["M31S", "sha256", 76e12],
    ["M50", "sha256", 118e12],
    ["M53", "sha256", 240e12],
    ["M56", "sha256", 212e12],
    ["M60", "sha256", 180e12],
    ["M63", "sha256", 366e12],
    ["M66", "sha256", 290e12],
  ],
  Avalon: [
    ["8##", "sha256", 13.6e12],
    ["9##", "sha256", 20e12],
    ["10##", "sha256", 44e12],
    ["11##", "sha256", 72e12],
    ["12##", "sha256", 88e12],
    ["13##", "sha256", 116e12],
    ["14##", "sha256", 145e12],
    ["15##", "sha256", 188e12],
    ["Nano 3", "sha256", 4e12],
    ["Nano 3S", "sha256", 6e12],
    ["Mini 3", "sha256", 37.5e12],
    ["Q", "sha256", 90e12],
  ],
  Innosilicon: [
    // The RPC's MHS are solutions per second.
    ["A9", "equihash", 50e3, { M: [1] }],
    ["T2", "sha256", 26e12],
    ["T3", "sha256", 43e12],
  ],
  Sealminer: [["A2", "sha256", 226e12]],
  Proto: [["Rig", "sha256", null]],
  FutureBit: [["Apollo", "sha256", null]],
  Auradine: [
    ["AT#", "sha256", null],
    ["AI#", "sha256", null],
    ["AT1500", "sha256", 150e12],
    ["AT2880", "sha256", 260e12],
    ["AI3680", "sha256", 375e12],
  ],
  Goldshell: [
    ["KD", "blake2s-kadena", null],
    ["KD5", "blake2s-kadena", 18e12],
    ["KD6", "blake2s-kadena", 26.3e12],
    ["KD BOX", "blake2s-kadena", 1.6e12],
    ["LT", "scrypt", null],
    ["LT5", "scrypt", 2.05e9],
    ["LT6", "scrypt", 3.35e9],
    ["MINI DOGE", "scrypt", 185e6],
    ["CK", "eaglesong", null],
    ["CK5", "eaglesong", 12e12],
    ["CK6", "eaglesong", 19.3e12],
    ["SC", "blake2b-sia", null],
    ["SC BOX", "blake2b-sia", 900e9],
    ["SC5 Pro", "blake2b-sia", 11e12],
    ["AL", "blake3-alephium", null],
    ["AL BOX", "blake3-alephium", 360e9],
  ],
  IceRiver: [
    ["KS#", "kheavyhash", null],
    ["KS0", "kheavyhash", 100e9],
    ["KS0 Pro", "kheavyhash", 200e9],
    ["KS0 Ultra", "kheavyhash", 400e9],
    ["KS1", "kheavyhash", 1e12],
    ["KS2", "kheavyhash", 2e12],
    ["KS3", "kheavyhash", 8e12],
    ["KS3L", "kheavyhash", 5e12],
    ["KS3M", "kheavyhash", 6e12],
    ["KS5L", "kheavyhash", 12e12],
    ["KS5M", "kheavyhash", 15e12],
    ["AL#", "blake3-alephium", null],
    ["RX#", "sha512256d", null],
  ],
  VolcMiner: [["D1", "scrypt", 15.5e9]],
  Hammer: [["D10", "scrypt", 5e9]],
  Elphapex: [
    ["DG#", "scrypt", null],
    ["DG Home", "scrypt", 2.1e9],
    ["DG1", "scrypt", 11e9],
    ["DG1+", "scrypt", 14e9],
  ],
  Bitaxe: [
    ["Max", "sha256", 0.4e12],
    ["Ultra", "sha256", 0.5e12],
    ["Hex", "sha256", 3e12],
    ["Supra", "sha256", 0.65e12],
    ["Supra Hex", "sha256", 4.2e12],
    ["Gamma", "sha256", 1.2e12],
    ["Gamma Duo", "sha256", 2.1e12],
    ["Gamma Turbo", "sha256", 2.15e12],
  ],
  NerdAxe: [
    ["NerdAxe", "sha256", 0.5e12],
    ["NerdQAxe+", "sha256", 2.4e12],
    ["NerdQAxe++", "sha256", 4.8e12],
  ],
};

/** Makers of firmware for Antminers, whose models they name without the manufacturer. */
const onAntminers: ReadonlySet<string> = new Set(["Braiins", "Hiveon", "LuxOS", "MARA", "MSKMiner", "VNish"]);

export const isAntminer = (make: string | null, model: string): boolean =>
  onAntminers.has(make ?? "") || /^antminer\b/i.test(model);

interface Entry {
  readonly begins: RegExp;
  readonly length: number;
  readonly facts: AsicModel;
}

const entries: ReadonlyMap<string, readonly Entry[]> = new Map(
  Object.entries(rows).map(([maker, listed]) => [maker, listed.map(entryOf).sort((a, b) => b.length - a.length)]),
);

/** A series comes after all its models. A digit after the name means another model: an S1 is not an S19. */
function entryOf([name, algorithm, nameplate, units = usual]: Row): Entry {
  const pattern = name.replace(/[+.]/g, "\\$&").replaceAll("#", "\\d").replaceAll(" ", "\\s?");
  const end = name.endsWith("#") ? "" : "(?!\\d)";
  return {
    begins: new RegExp(`^${pattern}${end}`, "i"),
    length: nameplate === null ? 0 : name.length,
    facts: { algorithm, nameplate, units },
  };
}

/** Far more models than any farm has. */
const mostKept = 256;
const kept = new Map<string, AsicModel | null>();

/** Null for an unknown model, and for anything but an ASIC miner. Antminers are recognised without their make, too. */
export function asicModel(make: string | null, model: string | null): AsicModel | null {
  if (model === null) return null;
  const key = `${make}/${model}`;
  const known = kept.get(key);
  if (known !== undefined) return known;
  if (kept.size >= mostKept) kept.clear();
  const found = lookedUp(make, model);
  kept.set(key, found);
  return found;
}

function lookedUp(make: string | null, model: string): AsicModel | null {
  const name = model
    .replace(/^(?:antminer|avalon(?:miner)?|elphapex|hammer|innosilicon|whatsminer|volcminer)\s*/i, "")
    .replaceAll("-", " ");
  return (
    entries.get(isAntminer(make, model) ? "Antminer" : (make ?? ""))?.find(({ begins }) => begins.test(name))?.facts ??
    null
  );
}
