/** The differences between members of the cgminer family on TCP port 4028. */
export interface Dialect {
  /** The first fields of `version`. */
  readonly version: Readonly<Record<string, string>>;
  /** Part of every status. */
  readonly description: string;
  /** The name of a hashing device. */
  readonly device: "ASC" | "PGA" | "GPU";
  /** The shortest average in `summary` and `devs`. */
  readonly shortWindow: { readonly name: string; readonly seconds: number };
  /** Accepts joined commands, `a+b`. */
  readonly joins: boolean;
  /** The active pool cannot be removed. */
  readonly keepsActivePool: boolean;
  /** The form of the answer to `quit` and `restart`. */
  readonly quit: "text" | "status";
  /** Commands of cgminer that this dialect does not have. */
  readonly lacks: ReadonlySet<string>;
  /** Reports in the form of Bitmain's firmware. */
  readonly bitmain: boolean;
  /** These name their rates MHS. */
  readonly mhs?: true;
  /** And have the power of the boards and the state of the power supply. */
  readonly powers?: true;
  /** H/s that it counts in fields named MHS, where it is not 1e6. */
  readonly mega?: number;
}

const ascCommands = ["asc", "asccount", "ascenable", "ascdisable", "ascidentify", "ascset"];
const pgaCommands = ["pga", "pgacount"];
const gpuCommands = ["gpu", "gpucount", "gpuenable", "gpudisable", "gpurestart"];
/** Of the second algorithm. */
const dualCommands = ["summary2", "devs2", "pools2"];
/** Commands that a read-only program does not have. */
const writingCommands = [
  "check",
  "privileged",
  "lockstats",
  "debug",
  "failover-only",
  "setconfig",
  "hotplug",
  "zero",
  "save",
  "addpool",
  "switchpool",
  "enablepool",
  "disablepool",
  "removepool",
  "poolpriority",
  "poolquota",
  "gpuenable",
  "gpudisable",
  "gpurestart",
  "restart",
  "quit",
];

export const dialects = {
  cgminer: {
    version: { CGMiner: "4.11.1", API: "3.7" },
    description: "cgminer 4.11.1",
    device: "ASC",
    shortWindow: { name: "5s", seconds: 5 },
    joins: true,
    keepsActivePool: false,
    quit: "text",
    lacks: new Set(["pga", ...gpuCommands, ...dualCommands]),
    bitmain: false,
  },
  bfgminer: {
    version: { CGMiner: "bfgminer 5.5.0", Miner: "BFGMiner 5.5.0", API: "3.3" },
    description: "bfgminer 5.5.0",
    device: "PGA",
    shortWindow: { name: "20s", seconds: 20 },
    joins: true,
    keepsActivePool: true,
    quit: "status",
    lacks: new Set([
      ...ascCommands,
      ...gpuCommands,
      ...dualCommands,
      "estats",
      "edevs",
      "lcd",
      "hotplug",
      "usbstats",
      "lockstats",
    ]),
    bitmain: false,
  },
  bmminer: {
    version: {
      BMMiner: "1.0.0",
      API: "3.1",
      Miner: "49.0.1.3",
      CompileTime: "Thu Mar 2 10:11:12 CST 2023",
      Type: "Antminer S19",
    },
    description: "cgminer 1.0.0",
    device: "ASC",
    shortWindow: { name: "5s", seconds: 5 },
    joins: false,
    keepsActivePool: false,
    quit: "text",
    lacks: new Set([
      ...pgaCommands,
      ...gpuCommands,
      ...dualCommands,
      "lcd",
      "hotplug",
      "usbstats",
      "lockstats",
      "ascset",
    ]),
    bitmain: true,
  },
  /** Innosilicon's firmware of an A9, which counts solutions in fields named MHS. */
  innosilicon: {
    version: { CGMiner: "a9-1.1.0", API: "3.7" },
    description: "innominer a9-1.1.0",
    device: "ASC",
    shortWindow: { name: "5s", seconds: 5 },
    joins: false,
    keepsActivePool: false,
    quit: "text",
    lacks: new Set([
      ...pgaCommands,
      ...gpuCommands,
      ...dualCommands,
      "lcd",
      "hotplug",
      "usbstats",
      "lockstats",
      "coin",
    ]),
    bitmain: false,
    mega: 1,
  },
  sgminer: {
    version: { Miner: "sgminer 5.6.1-gm", SGMiner: "5.6.1-gm", API: "4.1" },
    description: "sgminer 5.6.1-gm",
    device: "GPU",
    shortWindow: { name: "5s", seconds: 5 },
    joins: true,
    keepsActivePool: false,
    quit: "text",
    lacks: new Set([...ascCommands, ...pgaCommands, ...dualCommands, "lcd", "hotplug", "usbstats"]),
    bitmain: false,
  },
  teamredminer: {
    version: { Miner: "TeamRedMiner 0.10.21", API: "4.0" },
    description: "TeamRedMiner 0.10.21",
    device: "GPU",
    shortWindow: { name: "30s", seconds: 30 },
    joins: true,
    keepsActivePool: false,
    quit: "text",
    lacks: new Set([...ascCommands, ...pgaCommands, ...writingCommands, "lcd", "usbstats", "coin"]),
    bitmain: false,
  },
} as const satisfies Record<string, Dialect>;

export type DialectName = keyof typeof dialects;
