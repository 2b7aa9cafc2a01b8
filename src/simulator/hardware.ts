/** What a virtual rig is made of; H/s, W, °C, rpm, Hz, V. Figures are at the rated frequency and voltage, warm. */
export interface Hardware {
  /** As the rig's own protocol writes it. */
  readonly model: string;
  readonly hashrate: number;
  readonly power: number;
  readonly idlePower: number;
  /** The hottest board in a room of 25 °C. */
  readonly temperature: number;
  /** It stops hashing at this one until it is restarted. */
  readonly temperatureLimit: number;
  readonly fanRpm: number;
  readonly fans: number;
  readonly boards: number;
  readonly chips: number;
  readonly frequency: number;
  readonly voltage: number;
  /** Hashes that stand for difficulty 1. */
  readonly hashesPerDifficulty: number;
}

const difficultyOne = 2 ** 32;

export const hardware = {
  bitaxe: {
    model: "BM1370",
    hashrate: 1.071e12,
    power: 17.4,
    idlePower: 2.6,
    temperature: 58,
    temperatureLimit: 75,
    fanRpm: 7200,
    fans: 1,
    boards: 1,
    chips: 1,
    frequency: 525e6,
    voltage: 1.15,
    hashesPerDifficulty: difficultyOne,
  },
  antminer: {
    model: "Antminer S19",
    hashrate: 95e12,
    power: 3250,
    idlePower: 60,
    temperature: 66,
    temperatureLimit: 95,
    fanRpm: 6600,
    fans: 4,
    boards: 3,
    chips: 76,
    frequency: 675e6,
    voltage: 13.7,
    hashesPerDifficulty: difficultyOne,
  },
  /** A three-board rig of no special make under plain cgminer or bfgminer. */
  boards: {
    model: "BTB",
    hashrate: 13.5e12,
    power: 1320,
    idlePower: 40,
    temperature: 64,
    temperatureLimit: 95,
    fanRpm: 6000,
    fans: 2,
    boards: 3,
    chips: 63,
    frequency: 650e6,
    voltage: 9.1,
    hashesPerDifficulty: difficultyOne,
  },
  sticks: {
    model: "GSF",
    hashrate: 0.62e12,
    power: 24,
    idlePower: 3,
    temperature: 52,
    temperatureLimit: 85,
    fanRpm: 3000,
    fans: 0,
    boards: 2,
    chips: 1,
    frequency: 400e6,
    voltage: 1.4,
    hashesPerDifficulty: difficultyOne,
  },
  processor: {
    model: "AMD Ryzen 9 5950X 16-Core Processor",
    hashrate: 17_500,
    power: 145,
    idlePower: 35,
    temperature: 68,
    temperatureLimit: 95,
    fanRpm: 1800,
    fans: 1,
    boards: 1,
    chips: 16,
    frequency: 3.9e9,
    voltage: 1.2,
    hashesPerDifficulty: 1,
  },
} as const satisfies Record<string, Hardware>;

export type HardwareName = keyof typeof hardware;
