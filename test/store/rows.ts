import type { StoredMiner, StoredPool } from "../../src/store/store.ts";

export const miner = (address: string, changes: Partial<StoredMiner> = {}): StoredMiner => ({
  address,
  name: null,
  uid: null,
  driver: null,
  groupId: 0,
  username: null,
  password: null,
  token: null,
  login: null,
  interval: null,
  location: null,
  placeId: null,
  position: null,
  slot: null,
  tags: [],
  offlineExpected: false,
  powerNameplate: null,
  supply: null,
  power: {},
  ...changes,
});

export const pool = (description: string): StoredPool => ({
  description,
  coinClass: "PreDefined",
  coinShortName: "BTC",
  coinAlgorithm: "SHA-256",
  url: "stratum+tcp://pool.example:3333",
  workerName: "worker",
  walletAddress: "",
  plainWorkerPassword: "secret-word",
});
