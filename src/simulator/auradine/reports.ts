import { poolStatus, shareOfBoard, temperatureOfBoard } from "../cgminer/reports.ts";
import type { AuradineRig } from "./rig.ts";

const round = (value: number, digits = 2): number => Number(value.toFixed(digits));

export const status = (rig: AuradineRig, letter: string, code: number, words: string): object => ({
  STATUS: [
    {
      STATUS: letter,
      When: Math.floor(rig.model.at / 1000),
      Code: code,
      Msg: words,
      Description: "FluxOS-2024-06.11-simulated",
    },
  ],
});

type Report = (rig: AuradineRig) => object;

const report =
  (section: string, code: number, records: (rig: AuradineRig) => object[]): Report =>
  (rig) => ({ ...status(rig, "S", code, section), [section]: records(rig) });

/** Numbered from 1. */
const boardsOf = ({ model }: AuradineRig): number[] =>
  Array.from({ length: model.hardware.boards }, (_, board) => board + 1);

export const rpcReports: ReadonlyMap<string, Report> = new Map([
  ["version", report("VERSION", 22, () => [{ API: "1.0", GCMiner: "0.5" }])],
  [
    "summary",
    report("SUMMARY", 11, ({ model }) => [
      {
        Elapsed: Math.floor(model.elapsed),
        "MHS 5s": model.hashrate(5) / 1e6,
        "MHS 1m": model.hashrate(60) / 1e6,
        "MHS av": model.averageHashrate / 1e6,
        Accepted: model.shares.accepted,
        Rejected: model.shares.rejected,
        "Hardware Errors": model.hardwareErrors,
        "Total MH": Math.round(model.hashes / 1e6),
      },
    ]),
  ],
  [
    "devs",
    report("DEVS", 9, (rig) =>
      boardsOf(rig).map((board) => ({
        DEV: board,
        ID: board,
        Name: "ASICBoard",
        Enabled: true,
        Status: "Alive",
        "MHS 5s": (rig.model.hashrate(5) * shareOfBoard(rig.model, board - 1)) / 1e6,
        Temperature: round(temperatureOfBoard(rig.model, board - 1) - 15),
      })),
    ),
  ],
  [
    "pools",
    report("POOLS", 7, ({ model }) =>
      model.pools.map((pool, index) => ({
        POOL: index,
        URL: pool.url,
        User: pool.user,
        Status: poolStatus(pool),
        Priority: pool.priority,
        Quota: 1,
        "Stratum Active": pool === model.activePool,
        Accepted: model.sharesOf(pool).accepted,
        Rejected: model.sharesOf(pool).rejected,
      })),
    ),
  ],
  [
    "asccount",
    report("ASCCount", 104, ({ model: { hardware } }) => [
      { AsicCount: hardware.boards * hardware.chips, BoardCount: hardware.boards },
    ]),
  ],
]);

/** The pages of the HTTP API. */
export const pages: ReadonlyMap<string, Report> = new Map([
  [
    "ipreport",
    report("IPReport", 620, ({ body, model }) => [
      {
        model: model.hardware.model,
        version: "2024-06.11",
        SerialNo: `SIM${body.mac.replaceAll(":", "")}`,
        HBSerialNo: Array.from({ length: model.hardware.boards }, (_, board) => `SIMHB${board + 1}`),
        hostname: body.name,
        ip: "192.0.2.10",
        mac: body.mac.toLowerCase(),
      },
    ]),
  ],
  [
    "mode",
    report("Mode", 540, (rig) => [
      {
        Mode: rig.mode,
        Sleep: rig.sleeps ? "on" : "off",
        Power: rig.mode === "custom" ? rig.power : 0,
        Ths: round(rig.model.ratedHashrate / 1e12),
      },
    ]),
  ],
  [
    "psu",
    report("PSU", 570, ({ model }) => [
      {
        PowerIn: `${model.power.toFixed(2)}W`,
        PowerOut: `${(model.power * 0.95).toFixed(2)}W`,
        PoutMax: "4000.00W",
        Vin: "245.00V",
        Vout: `${model.voltage.toFixed(2)}V`,
        FanSpeed1: "4052.00 RPM",
      },
    ]),
  ],
  ["led", report("LED", 530, ({ led }) => [{ Code: led.code, LED1: 1, LED2: 1, Msg: led.message }])],
  [
    "fan",
    report("Fan", 510, ({ model }) =>
      Array.from({ length: model.hardware.fans }, (_, fan) => ({
        ID: fan + 1,
        Max: model.hardware.fanRpm,
        Speed: model.fanRpm,
        Target: model.fanRpm,
      })),
    ),
  ],
  [
    "temperature",
    report("Temperature", 590, (rig) => [
      { ID: 0, Name: "Control Board", BoardTemp: [{ ID: 0, Temperature: 25 }], ChipTemp: null },
      ...boardsOf(rig).map((board) => {
        const hot = temperatureOfBoard(rig.model, board - 1);
        return {
          ID: board,
          Name: `Hash Board ${board}`,
          BoardTemp: [15, 0].map((below, ID) => ({ ID, Temperature: round(hot - below, 4) })),
          ChipTemp: [12, 10].map((above, ID) => ({ ID, Temperature: round(hot + above, 4) })),
        };
      }),
    ]),
  ],
  [
    "frequency",
    report("Frequency", 640, (rig) =>
      boardsOf(rig).map((board) => ({
        ID: board,
        Name: `Hash Board ${board}`,
        ChipFrequency: [-10, 10].map((more, ID) => ({ ID, Frequency: rig.model.frequency / 1e6 + more })),
      })),
    ),
  ],
  [
    "voltage",
    report("Voltage", 630, (rig) =>
      boardsOf(rig).map((board) => ({
        ID: board,
        Name: `Hash Board ${board}`,
        ChipVoltage: [0.24, 0.26].map((Voltage, ID) => ({ ID, Voltage })),
      })),
    ),
  ],
]);
