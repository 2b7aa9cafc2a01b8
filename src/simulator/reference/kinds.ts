import { type Hardware, hardware } from "../hardware.ts";

/** A kind of miner in the twin: its hardware and the server's report of it. */
export interface MinerKind {
  readonly deviceType: "ASIC" | "GPU" | "PGA" | "CPU";
  readonly hardware: Hardware;
  /** The name of one of its devices. */
  readonly device: string;
  /** Id in the catalogue of algorithms. */
  readonly algorithm: string;
  /** Id in the catalogue of mining software. */
  readonly software: string;
  readonly port: number;
  /** Whether its power is measured; otherwise it is that of the nameplate. */
  readonly measuresPower: boolean;
  /** Whether its host can be rebooted. */
  readonly canReboot: boolean;
}

const scryptAsic: Hardware = {
  ...hardware.antminer,
  model: "Antminer L7",
  hashrate: 9.5e9,
  power: 3425,
  hashesPerDifficulty: 2 ** 16,
};

const gpuRig: Hardware = {
  ...hardware.processor,
  model: "6 x NVIDIA GeForce RTX 3070",
  hashrate: 366e6,
  power: 790,
  idlePower: 110,
  temperature: 61,
  fanRpm: 3100,
  fans: 6,
  boards: 6,
  frequency: 1.35e9,
  voltage: 0.85,
  hashesPerDifficulty: 2 ** 32,
};

export const kinds = {
  asic: {
    deviceType: "ASIC",
    hardware: hardware.antminer,
    device: "Chain",
    algorithm: "sha256",
    software: "CgMiner",
    port: 4028,
    measuresPower: true,
    canReboot: true,
  },
  scrypt: {
    deviceType: "ASIC",
    hardware: scryptAsic,
    device: "Chain",
    algorithm: "scrypt",
    software: "CgMiner",
    port: 4028,
    measuresPower: true,
    canReboot: true,
  },
  gpu: {
    deviceType: "GPU",
    hardware: gpuRig,
    device: "NVIDIA GeForce RTX 3070",
    algorithm: "etchash",
    software: "TrexMiner",
    port: 4067,
    measuresPower: true,
    canReboot: true,
  },
  cpu: {
    deviceType: "CPU",
    hardware: hardware.processor,
    device: hardware.processor.model,
    algorithm: "randomx",
    software: "XmrigMiner",
    port: 8080,
    measuresPower: false,
    canReboot: false,
  },
  pga: {
    deviceType: "PGA",
    hardware: hardware.sticks,
    device: "GSF",
    algorithm: "sha256",
    software: "BfgMiner",
    port: 4028,
    measuresPower: false,
    canReboot: false,
  },
} as const satisfies Record<string, MinerKind>;

export type KindName = keyof typeof kinds;
