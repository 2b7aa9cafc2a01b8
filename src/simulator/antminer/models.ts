import type { HardwareName } from "../hardware.ts";

/** The differences between Antminer models. */
export interface AntminerModel {
  readonly type: string;
  readonly hardware: HardwareName;
  /** Forms and answers of shell scripts; otherwise JSON. */
  readonly old: OldStats | null;
  readonly cooling: "air" | "water";
  /** Reports its power in the statistics. */
  readonly watt: boolean;
  /** Name of the firmware in the web interface. */
  readonly firmware: string;
  /** Its name in the RPC. */
  readonly miner: string;
  readonly compiled: string;
  /** Has a serial number. */
  readonly serial: boolean;
}

/** Where older statistics have boards and fans, and how they write the frequency. */
export interface OldStats {
  readonly boards: readonly number[];
  readonly fans: readonly number[];
  /** The name of a board's own frequency; null if it has none. */
  readonly frequency: string | null;
  /** Behind the frequency of the whole rig. */
  readonly unit: string;
}

const s9Stats: OldStats = { boards: [6, 7, 8], fans: [3, 6], frequency: "freq_avg", unit: "" };

const newer = {
  old: null,
  cooling: "air",
  watt: false,
  miner: "49.0.1.3",
  serial: false,
} as const;

const older = (compiled: string) => ({ ...newer, firmware: compiled, miner: "1.0.1.3", compiled });

export const antminerModels = {
  S9: {
    ...older("Tue May 29 10:21:40 CST 2018"),
    type: "Antminer S9",
    hardware: "s9",
    old: s9Stats,
    miner: "16.8.1.3",
  },
  "L3+": {
    ...older("Fri Aug 25 17:28:57 CST 2017"),
    type: "Antminer L3+",
    hardware: "l3",
    old: { boards: [1, 2, 3, 4], fans: [1, 2], frequency: null, unit: "" },
  },
  D3: {
    ...older("Mon Oct 23 11:05:02 CST 2017"),
    type: "Antminer D3",
    hardware: "d3",
    old: { boards: [1, 2, 3], fans: [1, 2], frequency: "frequency", unit: "" },
  },
  E3: {
    ...older("Wed Jul 4 18:21:00 CST 2018"),
    type: "Antminer E3",
    hardware: "e3",
    old: { boards: [1, 2, 3, 8, 9, 10, 11, 12, 13], fans: [5, 6], frequency: null, unit: "M" },
  },
  Z11: {
    ...older("Mon Apr 22 09:14:31 CST 2019"),
    type: "Antminer Z11",
    hardware: "z11",
    old: { boards: [1, 2, 3], fans: [1, 2], frequency: null, unit: "" },
  },
  Z15: {
    ...older("Tue Jul 28 16:40:12 CST 2020"),
    type: "Antminer Z15",
    hardware: "z15",
    old: { boards: [1, 2, 3], fans: [3, 4], frequency: null, unit: "" },
  },
  S19: {
    ...newer,
    type: "Antminer S19",
    hardware: "antminer",
    firmware: "Thu Mar  2 10:11:12 CST 2023",
    compiled: "Thu Mar 2 10:11:12 CST 2023",
  },
  /** For ethash; it does not report the unit of its rates. */
  E9: {
    ...newer,
    type: "Antminer E9",
    hardware: "e9",
    firmware: "Fri Jul 15 18:02:11 CST 2022",
    miner: "1.0.1.3",
    compiled: "Fri Jul 15 18:02:11 CST 2022",
  },
  K7: { ...older("Mon Feb 13 10:02:11 CST 2023"), type: "Antminer K7", hardware: "k7" },
  KA3: { ...older("Fri Sep 16 14:20:45 CST 2022"), type: "Antminer KA3", hardware: "ka3" },
  KS3: { ...older("Tue Aug 1 15:33:20 CST 2023"), type: "Antminer KS3", hardware: "ks3" },
  KS5: { ...older("Thu Mar 14 09:12:05 CST 2024"), type: "Antminer KS5", hardware: "ks5" },
  "S21 Hydro": {
    ...newer,
    type: "Antminer S21 Hyd.",
    hardware: "s21hydro",
    cooling: "water",
    firmware: "FR-1.4(240612-S21H)",
    miner: "uart_trans.1.3",
    compiled: "Wed Jun 12 08:15:00 CST 2024",
    serial: true,
  },
  S23: {
    ...newer,
    type: "Antminer S23",
    hardware: "s23",
    watt: true,
    firmware: "FR-2.0(260109-S23)",
    miner: "platform[AML]",
    compiled: "Fri Jan 9 09:30:00 CST 2026",
    serial: true,
  },
} as const satisfies Record<string, AntminerModel>;

export type AntminerModelName = keyof typeof antminerModels;
