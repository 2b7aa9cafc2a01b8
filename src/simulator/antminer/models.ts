import type { HardwareName } from "../hardware.ts";

/** The differences between Antminer models. */
export interface AntminerModel {
  readonly type: string;
  readonly hardware: HardwareName;
  /** Forms and answers of shell scripts; otherwise JSON. */
  readonly old: boolean;
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

export const antminerModels = {
  S9: {
    type: "Antminer S9",
    hardware: "s9",
    old: true,
    cooling: "air",
    watt: false,
    firmware: "Tue May 29 10:21:40 CST 2018",
    miner: "16.8.1.3",
    compiled: "Tue May 29 10:21:40 CST 2018",
    serial: false,
  },
  S19: {
    type: "Antminer S19",
    hardware: "antminer",
    old: false,
    cooling: "air",
    watt: false,
    firmware: "Thu Mar  2 10:11:12 CST 2023",
    miner: "49.0.1.3",
    compiled: "Thu Mar 2 10:11:12 CST 2023",
    serial: false,
  },
  /** For ethash; it does not report the unit of its rates. */
  E9: {
    type: "Antminer E9",
    hardware: "e9",
    old: false,
    cooling: "air",
    watt: false,
    firmware: "Fri Jul 15 18:02:11 CST 2022",
    miner: "1.0.1.3",
    compiled: "Fri Jul 15 18:02:11 CST 2022",
    serial: false,
  },
  "S21 Hydro": {
    type: "Antminer S21 Hyd.",
    hardware: "s21hydro",
    old: false,
    cooling: "water",
    watt: false,
    firmware: "FR-1.4(240612-S21H)",
    miner: "uart_trans.1.3",
    compiled: "Wed Jun 12 08:15:00 CST 2024",
    serial: true,
  },
  S23: {
    type: "Antminer S23",
    hardware: "s23",
    old: false,
    cooling: "air",
    watt: true,
    firmware: "FR-2.0(260109-S23)",
    miner: "platform[AML]",
    compiled: "Fri Jan 9 09:30:00 CST 2026",
    serial: true,
  },
} as const satisfies Record<string, AntminerModel>;

export type AntminerModelName = keyof typeof antminerModels;
