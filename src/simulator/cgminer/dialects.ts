/** What tells the members of the cgminer family apart on TCP port 4028. */
export interface Dialect {
  /** In `version`, first fields. */
  readonly version: Readonly<Record<string, string>>;
  /** Said in every status. */
  readonly description: string;
  /** What a hashing device is called: `ASC` or `PGA`. */
  readonly device: "ASC" | "PGA";
  /** The shortest average in `summary` and `devs`. */
  readonly shortWindow: { readonly name: string; readonly seconds: number };
  /** Takes `a+b`. */
  readonly joins: boolean;
  /** A pool in use must be left before it can be removed. */
  readonly keepsActivePool: boolean;
  /** What `quit` and `restart` answer. */
  readonly quit: "text" | "status";
  /** Commands of the base dialect that this one does not know. */
  readonly lacks: ReadonlySet<string>;
  /** Reports in the form of Bitmain's firmware. */
  readonly bitmain: boolean;
}

const ascCommands = ["asc", "asccount", "ascenable", "ascdisable", "ascidentify", "ascset"];
const pgaCommands = ["pga", "pgacount"];

export const dialects = {
  cgminer: {
    version: { CGMiner: "4.11.1", API: "3.7" },
    description: "cgminer 4.11.1",
    device: "ASC",
    shortWindow: { name: "5s", seconds: 5 },
    joins: true,
    keepsActivePool: false,
    quit: "text",
    lacks: new Set(["pga"]),
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
    lacks: new Set([...ascCommands, "estats", "edevs", "lcd", "hotplug", "usbstats", "lockstats"]),
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
    lacks: new Set([...pgaCommands, "lcd", "hotplug", "usbstats", "lockstats", "ascset"]),
    bitmain: true,
  },
} as const satisfies Record<string, Dialect>;

export type DialectName = keyof typeof dialects;
