import type { Program, ProgramPool } from "../../src/contract/agent.ts";

export const somePool: ProgramPool = {
  url: "stratum+tcp://pool.example.com:3333",
  worker: "rig1",
  wallet: "0xabc",
  password: "",
};

/** A program with one pool, as a test needs it. */
export const someProgram = (fields: Partial<Program> = {}): Program => ({
  id: 1,
  name: "Rig",
  software: "XmrigMiner",
  files: { from: "path", path: "/opt/xmrig/xmrig" },
  algorithm: "randomx",
  dualAlgorithm: null,
  pools: [somePool],
  dualPools: [],
  parameters: "",
  running: true,
  gpuSettings: [],
  idle: null,
  ...fields,
});
