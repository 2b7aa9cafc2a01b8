import { shareOfBoard, temperatureOfBoard } from "../cgminer/reports.ts";
import { modes, type SealminerRig } from "./rig.ts";

const round = (value: number, digits = 3): number => Number(value.toFixed(digits));

export const status = (rig: SealminerRig, letter: string, code: number, words: string): object => ({
  STATUS: [
    { STATUS: letter, When: Math.floor(rig.model.at / 1000), Code: code, Msg: words, Description: "bdminer 4.11.1" },
  ],
  id: 1,
});

/** The report `stats`, which is one record for the whole rig. */
export function stats(rig: SealminerRig): object {
  const { model } = rig;
  const { boards, chips, fans } = model.hardware;
  const perBoard = Array.from({ length: boards }, (_, board) => {
    const hot = Math.round(temperatureOfBoard(model, board));
    return {
      [`${board} Online`]: true,
      [`${board} Chip Count`]: chips,
      [`${board} Bad Chip Count`]: board === 2 ? 1 : 0,
      [`${board} Freq`]: Math.round(model.frequency / 1e6),
      [`${board} MHS(Ideal)`]: Math.round(model.ratedHashrate / 1e6 / boards),
      [`${board} MHS(Sample)`]: round((model.hashrate(30) * shareOfBoard(model, board)) / 1e6, 6),
      [`${board} SN`]: `SIMHB${board}`,
      [`${board} Temp 0`]: hot - 15,
      [`${board} Temp 1`]: hot - 18,
      [`${board} Temp 2`]: hot,
      [`${board} Temp 3`]: hot - 2,
      [`${board} Tune Status`]: "Fine Tuning Done",
    };
  });
  const perFan = Array.from({ length: fans }, (_, fan) => ({
    [`${fan} Speed`]: model.fanRpm,
    [`${fan} PWM`]: Math.round(model.fan * 255),
  }));
  return {
    STATS: [
      {
        STATS: 0,
        ID: "A20",
        Elapsed: Math.floor(model.elapsed),
        ...Object.assign({}, ...perBoard, ...perFan),
        "Board Count": boards,
        "Fan Count": fans,
        "Ctrl Board SN": `SIM${rig.body.mac.replaceAll(":", "")}`,
        Firmware: "2025091001",
        MAC: rig.body.mac.toLowerCase(),
        Model: model.hardware.model,
        "MHS(Sample)": round(model.hashrate(30) / 1e6, 6),
        "MHS(Rated)": round(model.ratedHashrate / 1e6, 5),
        "Mining Mode": rig.mode === modes.low ? "Low Power" : "Normal",
        "PM State": rig.suspended ? "Suspend" : "Running",
        "Raise Freq Done": model.elapsed > 60,
        "Error Code": model.overheated ? "OverTemp" : "",
        "PSU Error": "0x00000000",
        "PSU Input Power": Math.round(model.power),
        "PSU Output Power": Math.round(model.power * 0.92),
        "PSU Output Voltage": round(model.voltage),
        "PSU Model": "BTPSU04SIM",
        "PSU SN": "SIMPSU1",
        "PSU Temp AMB": 26,
        "Power Limit": 3_500,
        Temp: Math.round(model.temperature),
        "System Uptime": Math.floor(model.elapsed) + 100,
      },
    ],
  };
}

/** The page get_system_info. */
export const info = (rig: SealminerRig): object => ({
  brand: "Sealminer",
  miner_type: rig.model.hardware.model,
  macaddr: rig.body.mac.toLowerCase(),
  firmware_version: "2025091001",
  led: rig.blinks ? "on" : "off",
  miningMode: String(rig.mode),
  low_power: modes.low,
  normal: modes.normal,
  high_performance: modes.high,
  custom: modes.custom,
});
