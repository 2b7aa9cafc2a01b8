import { emptyManagedMiner, emptyPool, type ManagedMinerDefinition, type PoolDefinition } from "./definitions.ts";
import type { KindName } from "./kinds.ts";
import { kinds } from "./kinds.ts";

/** The initial state of the twin. Hosts are invented and never contacted. */

export interface TwinGroup {
  readonly id: number;
  readonly name: string;
  /** 0 = at the top. */
  readonly parentId: number;
}

export const groups: readonly TwinGroup[] = [
  { id: 1, name: "Hall A", parentId: 0 },
  { id: 2, name: "Hall B", parentId: 0 },
  { id: 3, name: "Hall B, rack 1", parentId: 2 },
];

const pool = (
  id: number,
  description: string,
  coinShortName: string,
  coinAlgorithm: string,
  url: string,
): PoolDefinition => ({
  ...emptyPool,
  id,
  description,
  coinShortName,
  coinAlgorithm,
  url,
  workerName: id === 2 ? "farm.backup" : "",
  plainWorkerPassword: "x",
});

export const pools: readonly PoolDefinition[] = [
  pool(1, "Bitcoin North", "BTC", "sha256", "stratum+tcp://btc.pool.example.com:3333"),
  pool(2, "Bitcoin South", "BTC", "sha256", "stratum+tcp://btc.backup.example.net:3333"),
  pool(3, "Bitcoin Cash", "BCH", "sha256", "stratum+tcp://bch.pool.example.com:3333"),
  pool(4, "Litecoin North", "LTC", "scrypt", "stratum+tcp://ltc.pool.example.com:3333"),
  pool(5, "Litecoin South", "LTC", "scrypt", "stratum+tcp://ltc.backup.example.net:3333"),
  pool(6, "Ethereum Classic", "ETC", "etchash", "stratum+ssl://etc.pool.example.com:5555"),
  pool(7, "Monero North", "XMR", "randomx", "stratum+tcp://xmr.pool.example.com:3333"),
  pool(8, "Monero South", "XMR", "randomx", "stratum+tcp://xmr.backup.example.net:3333"),
];

export const poolGroups = [
  { id: 1, name: "Bitcoin", pools: [1, 2] },
  { id: 2, name: "Litecoin", pools: [4, 5] },
  { id: 3, name: "Monero", pools: [7, 8] },
];

export const hosts = [
  { id: 1, description: "GPU host", hostname: "gpu-host" },
  { id: 2, description: "Office computer", hostname: "office" },
];

/** The GPUs of the first host; the others have none. */
export const gpus = Array.from({ length: kinds.gpu.hardware.boards }, (_, index) => ({
  name: kinds.gpu.device,
  id: index,
  vendorId: index,
  pciBusId: index + 1,
}));

export const managedMiners: readonly (ManagedMinerDefinition & { readonly groupId: number })[] = [
  {
    ...emptyManagedMiner,
    id: 1,
    groupId: 1,
    description: "Managed T-Rex",
    hostId: 1,
    poolId: 6,
    commandLineParams: "--intensity 22",
    softwareType: "TrexMiner",
    algorithm: "etchash",
  },
  {
    ...emptyManagedMiner,
    id: 2,
    groupId: 2,
    description: "Managed XMRig",
    hostId: 2,
    isPoolGroup: true,
    poolId: 3,
    softwareAutoDownload: false,
    softwareType: "XmrigMiner",
    softwarePath: "C:\\Mining\\xmrig.exe",
    algorithm: "randomx",
  },
];

/** With fewer miners, none is managed. */
export const fewestWithManaged = 4;

export const templates = [
  { id: 1, name: "Low power" },
  { id: 2, name: "Full power" },
  { id: 3, name: "Bitcoin pools" },
];

export const rules = [
  { id: 1, name: "Night mode" },
  { id: 2, name: "Backup pool" },
];

const kindsInTurn: readonly KindName[] = [
  "asic",
  "asic",
  "gpu",
  "asic",
  "asic",
  "scrypt",
  "cpu",
  "asic",
  "gpu",
  "asic",
];
const groupsInTurn = [1, 1, 1, 1, 2, 2, 2, 3, 3, 0];

export const initialPools: Readonly<Record<KindName, readonly number[]>> = {
  asic: [1, 2],
  scrypt: [4, 5],
  gpu: [6],
  cpu: [7, 8],
  pga: [1, 2],
};

/** The external miner with this index: of the first twenty, one is stopped, two are off and one is an FPGA. */
export function placeOf(index: number): {
  readonly kind: KindName;
  readonly groupId: number;
  readonly state: "mining" | "stopped" | "off";
} {
  const turn = index % kindsInTurn.length;
  return {
    kind: index === 9 ? "pga" : (kindsInTurn[turn] ?? "asic"),
    groupId: groupsInTurn[turn] ?? 0,
    state: index === 3 ? "stopped" : index === 5 || index === 14 ? "off" : "mining",
  };
}
