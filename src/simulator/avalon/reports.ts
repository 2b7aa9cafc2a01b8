import { shareOfBoard, temperatureOfBoard } from "../cgminer/reports.ts";
import { fraction } from "../random.ts";
import { type AvalonRig, stateOf, watts } from "./state.ts";

const models = {
  "a-series": { prod: "AvalonMiner 1246-83", model: "1246-83", hardware: "MM3v2_X3", software: "MM317" },
  nano3: { prod: "Avalonnano", model: "nano3", hardware: "PMMv1_X1", software: "MM318_X2" },
  nano3s: { prod: "Avalon Nano3s", model: "Nano3s", hardware: "N_MM1v1_X1", software: "MM319" },
  mini3: { prod: "Avalon Mini3", model: "Mini3", hardware: "M_MM1v1_X1", software: "MM319" },
  q: { prod: "Avalon Q", model: "Q", hardware: "Q_MM1v1_X1", software: "MM319" },
} as const;

const firmware = "25061801_51a2b3c";

const dnaOf = ({ generation, body: { mac } }: AvalonRig): string =>
  generation === "nano3" ? "0".repeat(16) : `0201${mac.replaceAll(":", "").toLowerCase()}`;

/** The record of `version`; a Nano 3 reports neither MAC nor serial number. */
export function version(rig: AvalonRig): Record<string, string> {
  const { prod, model, hardware, software } = models[rig.generation];
  const common = { CGMiner: "4.11.1", API: "3.7", PROD: prod, MODEL: model, HWTYPE: hardware, SWTYPE: software };
  const mac = rig.body.mac.replaceAll(":", "").toLowerCase();
  switch (rig.generation) {
    case "a-series":
      return {
        ...common,
        VERSION: `${firmware}_211fc46`,
        LOADER: "d0d779de.00",
        DNA: dnaOf(rig),
        MAC: mac,
        UPAPI: "2",
      };
    case "nano3":
      return { ...common, VERSION: firmware, HVERSION: `${firmware}_6223725`, UPAPI: "2" };
    default:
      return {
        ...common,
        LVERSION: firmware,
        BVERSION: firmware,
        CGVERSION: firmware,
        DNA: dnaOf(rig),
        MAC: rig.body.mac,
      };
  }
}

/** The first record of `stats`. */
export function stats(rig: AvalonRig): Record<string, string | number> {
  const id = { "a-series": "AVA100", nano3: "AVANANO0", nano3s: "AVALON0", mini3: "AVALON0", q: "AVALON0" };
  const head = { STATS: 0, ID: id[rig.generation], Elapsed: Math.floor(rig.model.elapsed), Calls: 0 };
  if (rig.generation !== "q" && rig.generation !== "mini3") return { ...head, "MM ID0": line(rig), "MM Count": 1 };
  return { ...head, "MM ID0:Summary": `'STATS':{${line(rig)}}`, HBinfo: `'HB0':{${chipsOf(rig, 0)}}` };
}

/** The shorter report, with only the status line. */
export function liteStats(rig: AvalonRig): Record<string, string> {
  const key = rig.generation === "q" || rig.generation === "mini3" ? "MM ID0:Summary" : "MM ID0";
  return { [key]: line(rig) };
}

type Fields = readonly (readonly [key: string, value: string | number])[];

const written = (fields: Fields): string => fields.map(([key, value]) => `${key}[${value}]`).join(" ");

const states = ["Init", "Work", "Idle"] as const;

function line(rig: AvalonRig): string {
  const last =
    rig.generation === "a-series"
      ? ` ${boardsOf(rig)
          .map((board) => chipsOf(rig, board))
          .join(" ")}`
      : "";
  return written([...start(rig), ...air(rig), ...supply(rig), ...rates(rig), ...end(rig)]) + last;
}

const boardsOf = ({ model }: AvalonRig): number[] => Array.from({ length: model.hardware.boards }, (_, board) => board);

const fixed = (value: number, digits = 2): string => value.toFixed(digits);

function start(rig: AvalonRig): Fields {
  const { generation, model } = rig;
  const { boards } = model.hardware;
  const state = stateOf(rig);
  const errors = model.hardwareErrors;
  return [
    ...(generation === "nano3" ? [["HashStatus", state === 1 ? 1 : 0] as const] : []),
    ["Ver", `${models[generation].model}-${firmware}`],
    ...(generation === "nano3s"
      ? ([
          ["FW", "Release"],
          ["LED", "0-0"],
          ["LEDUser", rig.light.join("-")],
        ] as const)
      : []),
    ["DNA", dnaOf(rig)],
    ...(generation === "q" || generation === "mini3"
      ? ([
          ["CPU", "K230"],
          ["STATE", state],
        ] as const)
      : []),
    ["MEMFREE", 67_892],
    ["NETFAIL", "0 0 0 0 0 0 0 0"],
    ["SYSTEMSTATU", `Work: In ${states[state]}, Hash Board: ${boards}${generation === "a-series" ? " " : ""}`],
    ["Elapsed", Math.floor(model.elapsed)],
    ["BOOTBY", "0x01.00000000"],
    [
      "MH",
      boardsOf(rig)
        .map((board) => Math.floor(errors / boards) + board)
        .join(" "),
    ],
    ["HW", errors],
    ["DH", "1.250%"],
  ];
}

function air({ generation, model, softOff }: AvalonRig): Fields {
  const chips = model.hashing ? Math.round(model.temperature) + 8 : 0;
  const room = Math.round(model.ambient);
  const outlet = Math.round(model.ambient + (model.temperature - model.ambient) * 0.4);
  const stopped = softOff !== 0;
  const rpm = stopped ? 0 : model.fanRpm;
  const target = Math.round(model.temperatureTarget);
  const inlet: Fields =
    generation === "a-series" || generation === "nano3"
      ? [["Temp", room]]
      : [["ITemp", generation === "nano3s" ? -273 : room]];
  const out: Fields =
    generation === "a-series"
      ? []
      : generation === "nano3" || generation === "nano3s"
        ? [["OTemp", outlet]]
        : [
            ["HBITemp", room + 1],
            ["HBOTemp", outlet],
          ];
  return [
    ...inlet,
    ...out,
    ["TMax", chips],
    ["TAvg", model.hashing ? Math.round(model.temperature) : 0],
    ...(generation === "a-series" ? [] : ([["TarT", target]] as const)),
    ...Array.from({ length: model.hardware.fans }, (_, fan) => [`Fan${fan + 1}`, Math.max(0, rpm - 20 * fan)] as const),
    ["FanR", `${stopped ? 0 : Math.round(model.fan * 100)}%`],
  ];
}

/** The power supply: error, two voltages, amperes, watts, target voltage, watts from the wall. */
function supply(rig: AvalonRig): Fields {
  const { generation, model } = rig;
  const power = Math.round(model.power);
  const volts = model.hashing ? model.voltage : 0.01;
  const board = model.hashing ? Math.round(power * 0.93) : 0;
  const current = Math.round(board / Math.max(1, volts));
  switch (generation) {
    case "a-series":
      return [["PS", `0 1214 ${Math.round(volts * 100)} ${current} ${power} 1320 ${Math.round(power * 1.08)}`]];
    case "nano3":
      return [["PS", `0 0 0 4 ${Math.round(volts * 100)} 126 330`]];
    case "nano3s":
      return [["PS", `0 0 ${Math.round(volts * 1000)} 4 0 3756 ${power}`]];
    case "mini3":
      return [
        ["PS", `0 1216 ${Math.round(volts * 100)} ${current} ${board} 2412 0`],
        ["WALLPOWER", power],
      ];
    case "q":
      return [
        ["PS", `0 1216 ${Math.round(volts * 100)} ${current} ${board} 2412 ${power}`],
        ["PCOMM_E", 0],
      ];
  }
}

function rates({ generation, model, ...rig }: AvalonRig): Fields {
  const boards = boardsOf({ generation, model, ...rig });
  const average = model.averageHashrate / 1e9;
  return [
    ["GHSspd", fixed(model.hashrate(5) / 1e9)],
    ["DHspd", "1.250%"],
    ["GHSmm", fixed(model.ratedHashrate / 1e9)],
    ["GHSavg", fixed(average)],
    ["WU", fixed(model.elapsed === 0 ? 0 : (60 * model.work) / model.elapsed)],
    ["Freq", fixed(model.frequency / 1e6)],
    ["MGHS", boards.map((board) => fixed(average * shareOfBoard(model, board))).join(" ")],
    ["TA", model.hardware.chips * model.hardware.boards],
    ["Core", "A3197S"],
    ["PING", 20],
  ];
}

function end({ generation, model, led, softOff, mode, ...rig }: AvalonRig): Fields {
  const boards = boardsOf({ generation, model, led, softOff, mode, ...rig });
  const tail: Fields = [
    ["SoftOFF", softOff],
    ["ECHU", boards.map(() => 0).join(" ")],
    ["ECMM", 0],
  ];
  const hot = (more: number): string =>
    boards.map((board) => (model.hashing ? Math.round(temperatureOfBoard(model, board)) + more : 0)).join(" ");
  const cap = watts[generation][mode.now] ?? 0;
  switch (generation) {
    case "a-series":
      return [
        ["Led", led ? 1 : 0],
        ["MTmax", hot(8)],
        ["MTavg", hot(0)],
        ...tail,
        ["MPO", cap],
        ["WORKMODE", mode.now],
      ];
    case "nano3":
      return [...tail, ["WORKLEVEL", mode.now]];
    case "nano3s":
      return [["MTmax", hot(8)], ["MTavg", hot(0)], ...tail, ["WORKMODE", mode.now], ["WORKLEVEL", 0], ["MPO", cap]];
    default:
      return [
        ...tail,
        ["FanErr", 0],
        ["LcdOnoff", 1],
        ["WORKMODE", mode.now],
        ["WORKLEVEL", 0],
        ["MPO", cap],
        ["Nonce Mask", 25],
      ];
  }
}

/** Temperature and voltage of each chip of a board. */
function chipsOf({ model }: AvalonRig, board: number): string {
  const chips = Array.from({ length: model.hardware.chips }, (_, chip) => fraction(model.seed + board, chip));
  const warm = temperatureOfBoard(model, board);
  const temperatures = chips.map((luck) => String(Math.round(warm - 4 + 8 * luck)).padStart(3));
  return `PVT_T${board}[${temperatures.join(" ")}] PVT_V${board}[${chips.map((luck) => 300 + Math.round(15 * luck)).join(" ")}]`;
}
