import type { Driver } from "../../src/link/driver.ts";
import type { Credentials } from "../../src/link/link.ts";
import type { RigSpec } from "../../src/simulator/index.ts";

/** A virtual rig of each family and generation, for the table of devices. */
export interface Specimen {
  /** Id of the driver that reads it. */
  readonly driver: string;
  /** Which rigs it represents. */
  readonly rigs: string;
  readonly spec: RigSpec;
  readonly credentials?: Credentials;
  /** Where it differs from that of the driver's other rigs. */
  readonly evidence?: Driver["evidence"];
}

const documented = { readings: "vendor document", controls: "vendor document" } as const;

const root = (password: string): Credentials => ({ username: "root", password });
const admin: Credentials = { username: "admin", password: "admin" };

export const specimens: readonly Specimen[] = [
  { driver: "antminer", rigs: "Antminer S17 to S21, stock", spec: { kind: "antminer" }, credentials: root("root") },
  {
    driver: "antminer",
    rigs: "Antminer S9 and its generation, stock",
    spec: { kind: "antminer", model: "S9" },
    credentials: root("root"),
  },
  { driver: "antminer", rigs: "Antminer without its login", spec: { kind: "antminer" } },
  { driver: "whatsminer", rigs: "WhatsMiner with API v2", spec: { kind: "whatsminer" }, credentials: admin },
  {
    driver: "whatsminer",
    rigs: "WhatsMiner with API v3 (firmware from 2024-11 on)",
    spec: { kind: "whatsminer", generation: "v3" },
    credentials: { username: "super", password: "super" },
  },
  {
    driver: "avalon",
    rigs: "Avalon A-series",
    spec: { kind: "avalon", generation: "a-series" },
    credentials: root("root"),
  },
  { driver: "avalon", rigs: "Avalon Q", spec: { kind: "avalon", generation: "q" }, credentials: root("root") },
  { driver: "avalon", rigs: "Avalon Mini 3", spec: { kind: "avalon", generation: "mini3" }, credentials: root("root") },
  {
    driver: "avalon",
    rigs: "Avalon Nano 3S",
    spec: { kind: "avalon", generation: "nano3s" },
    credentials: root("root"),
  },
  { driver: "avalon", rigs: "Avalon Nano 3", spec: { kind: "avalon", generation: "nano3" }, credentials: root("root") },
  {
    driver: "braiins",
    rigs: "Braiins OS with REST (25.07 and later)",
    spec: { kind: "braiins" },
    credentials: root(""),
  },
  {
    driver: "braiins",
    rigs: "Braiins OS before REST (22.08)",
    spec: { kind: "braiins", generation: "bosminer" },
    credentials: root(""),
  },
  { driver: "luxos", rigs: "LuxOS", spec: { kind: "luxos" } },
  { driver: "vnish", rigs: "VNish", spec: { kind: "vnish" }, credentials: { password: "admin" } },
  {
    driver: "epic",
    rigs: "ePIC UMC (PowerPlay)",
    spec: { kind: "epic" },
    credentials: { password: "letmein" },
  },
  {
    driver: "auradine",
    rigs: "Auradine (Teraflux)",
    spec: { kind: "auradine" },
    credentials: { username: "admin", password: "admin" },
  },
  {
    driver: "goldshell",
    rigs: "Goldshell",
    spec: { kind: "goldshell" },
    credentials: { username: "admin", password: "123456789" },
  },
  {
    driver: "sealminer",
    rigs: "Sealminer (Bitdeer)",
    spec: { kind: "sealminer" },
    credentials: { username: "seal", password: "seal" },
  },
  { driver: "apollo", rigs: "FutureBit Apollo", spec: { kind: "apollo" }, credentials: { password: "apollopass" } },
  { driver: "proto", rigs: "Proto Rig", spec: { kind: "proto" }, credentials: { password: "protopass" } },
  {
    driver: "iceriver",
    rigs: "IceRiver",
    spec: { kind: "iceriver" },
    credentials: { username: "admin", password: "12345678" },
  },
  { driver: "axeos", rigs: "Bitaxe, NerdAxe, NerdQAxe and LuckyMiner (AxeOS)", spec: { kind: "axeos" } },
  { driver: "elphapex", rigs: "Elphapex DG series", spec: { kind: "elphapex" }, credentials: root("root") },
  { driver: "volcminer", rigs: "VolcMiner", spec: { kind: "volcminer" }, credentials: root("ltc@dog") },
  { driver: "hammer", rigs: "Hammer", spec: { kind: "hammer" }, credentials: root("root") },
  { driver: "innosilicon", rigs: "Innosilicon", spec: { kind: "innosilicon" }, credentials: admin },
  { driver: "hiveon", rigs: "Hiveon on Antminer", spec: { kind: "hiveon" }, credentials: root("root") },
  { driver: "mara", rigs: "MARA on Antminer", spec: { kind: "mara" }, credentials: root("root") },
  {
    driver: "mskminer",
    rigs: "MSKMiner on Antminer",
    spec: { kind: "mskminer" },
    credentials: { username: "admin", password: "root" },
  },
  { driver: "mujina", rigs: "Mujina", spec: { kind: "mujina" } },
  { driver: "cgminer", rigs: "cgminer and compatible software", spec: { kind: "cgminer" } },
  { driver: "cgminer", rigs: "sgminer", spec: { kind: "cgminer", dialect: "sgminer" }, evidence: documented },
  {
    driver: "cgminer",
    rigs: "TeamRedMiner",
    spec: { kind: "cgminer", dialect: "teamredminer", dualAlgorithm: "kaspa" },
    evidence: documented,
  },
  { driver: "ccminer", rigs: "ccminer and its descendants for cards", spec: { kind: "ccminer" } },
  { driver: "ccminer", rigs: "cpuminer-opt", spec: { kind: "ccminer", hardware: "processor" } },
  { driver: "claymore", rigs: "PhoenixMiner", spec: { kind: "claymore", dualAlgorithm: "blake256r14" } },
  { driver: "ethminer", rigs: "ethminer and its forks", spec: { kind: "ethminer" } },
  {
    driver: "xmrig",
    rigs: "XMRig",
    spec: { kind: "xmrig", token: "secret", restricted: false },
    credentials: { token: "secret" },
  },
  {
    driver: "trex",
    rigs: "T-Rex",
    spec: { kind: "trex", password: "secret", dualAlgorithm: "kawpow" },
    credentials: { password: "secret" },
  },
  { driver: "zenemy", rigs: "z-enemy", spec: { kind: "zenemy" } },
  { driver: "gminer", rigs: "GMiner", spec: { kind: "gminer", dualAlgorithm: "kHeavyHash" } },
  {
    driver: "nbminer",
    rigs: "NBMiner",
    spec: { kind: "nbminer", algorithm: "tensority", dualAlgorithm: "ethash" },
  },
  { driver: "rigel", rigs: "Rigel", spec: { kind: "rigel", dualAlgorithm: "sha512256d" } },
  {
    driver: "bzminer",
    rigs: "BzMiner",
    spec: { kind: "bzminer", password: "secret", dualAlgorithm: "kaspa" },
    credentials: { password: "secret" },
  },
  {
    driver: "srbminer",
    rigs: "SRBMiner-MULTI",
    spec: { kind: "srbminer", password: "secret", dualAlgorithm: "blake3_decred" },
    credentials: { token: "secret" },
  },
  { driver: "lolminer", rigs: "lolMiner", spec: { kind: "lolminer", dualAlgorithm: "KASPA" } },
  { driver: "lolminer", rigs: "lolMiner up to 1.3", spec: { kind: "lolminer", older: true } },
  { driver: "onezerominer", rigs: "OneZeroMiner", spec: { kind: "onezerominer", dualAlgorithm: "qhash" } },
  { driver: "wildrig", rigs: "WildRig Multi", spec: { kind: "wildrig" } },
  { driver: "nanominer", rigs: "nanominer", spec: { kind: "nanominer", dualAlgorithm: "HeavyHash" } },
  { driver: "teamblack", rigs: "Team Black Miner", spec: { kind: "teamblack", dualAlgorithm: "kawpow" } },
  { driver: "teamblack", rigs: "Team Black Miner 1.x", spec: { kind: "teamblack", older: true } },
  { driver: "miniz", rigs: "miniZ", spec: { kind: "miniz" } },
  {
    driver: "xmrig-proxy",
    rigs: "xmrig-proxy",
    spec: { kind: "xmrig-proxy", password: "secret" },
    credentials: { token: "secret" },
  },
];
