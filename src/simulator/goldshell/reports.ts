import { poolStatus, shareOfBoard, temperatureOfBoard } from "../cgminer/reports.ts";
import type { GoldshellRig } from "./rig.ts";

const round = (value: number, digits = 2): number => Number(value.toFixed(digits));

export const status = (rig: GoldshellRig, letter: string, code: number, words: string): object => ({
  STATUS: [
    {
      STATUS: letter,
      When: Math.floor(rig.model.at / 1000),
      Code: code,
      Msg: words,
      Description: "intchains_qomo 5.4.2",
    },
  ],
});

type Report = (rig: GoldshellRig) => object;

const report =
  (section: string, code: number, records: (rig: GoldshellRig) => object[]): Report =>
  (rig) => ({ ...status(rig, "S", code, section), [section]: records(rig) });

const boardsOf = ({ model }: GoldshellRig): number[] => Array.from({ length: model.hardware.boards }, (_, n) => n);

/** MH/s. */
const mega = (hashrate: number): number => round(hashrate / 1e6, 3);

export const rpcReports: ReadonlyMap<string, Report> = new Map([
  ["version", report("VERSION", 22, () => [{ Miner: "BFGMiner 5.4.2", CGMiner: "bfgminer 5.4.2", API: "3.3" }])],
  [
    "summary",
    report("SUMMARY", 11, ({ model }) => [
      {
        Elapsed: Math.floor(model.elapsed),
        "MHS av": mega(model.averageHashrate),
        "MHS 20s": mega(model.hashrate(20)),
        Accepted: model.shares.accepted,
        Rejected: model.shares.rejected,
        "Hardware Errors": model.hardwareErrors,
        "Best Share": model.bestShare,
        "Found Blocks": 0,
      },
    ]),
  ],
  [
    "devs",
    report("DEVS", 9, (rig) =>
      boardsOf(rig).map((board) => {
        const hot = temperatureOfBoard(rig.model, board);
        const share = shareOfBoard(rig.model, board);
        const fans = Array.from({ length: rig.model.hardware.fans }, (_, fan) => [`fan${fan}`, rig.model.fanRpm]);
        return {
          PGA: board,
          Name: "ICT",
          ID: board,
          Enabled: "Y",
          Status: "Alive",
          "MHS av": mega(rig.model.averageHashrate * share),
          "MHS 20s": mega(rig.model.hashrate(20) * share),
          Accepted: Math.floor(rig.model.shares.accepted * share),
          Rejected: 0,
          "Hardware Errors": 0,
          "tstemp-0": round(hot + 8),
          "tstemp-1": round(hot + 10),
          "tstemp-2": round(hot),
          ...Object.fromEntries(fans),
        };
      }),
    ),
  ],
  [
    "devdetails",
    report("DEVDETAILS", 69, (rig) =>
      boardsOf(rig).map((board) => ({ PGA: board, ID: board, "chips-nr": rig.model.hardware.chips })),
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
        Stale: 0,
      })),
    ),
  ],
]);

/** The pages of the HTTP API. */
export const pages: ReadonlyMap<string, (rig: GoldshellRig) => unknown> = new Map<
  string,
  (rig: GoldshellRig) => unknown
>([
  ["status", ({ model }) => ({ model: `Goldshell-${model.hardware.model}`, firmware: "2.2.5", hardware: "40.40" })],
  [
    "setting",
    (rig) => ({
      select: rig.select,
      tempcontrol: true,
      ledcontrol: true,
      manual: rig.manual,
      manualPowerplan: "725 MHz 0.41 V 70 RPM 70 RPM",
      name: rig.body.mac,
      powerplans: rig.levels.map((level, index) => ({
        level,
        info:
          index === rig.levels.length - 1 ? "0 MHz 0 V 70 RPM 70 RPM" : `${725 - 100 * level} MHz 0.41 V 70 RPM 70 RPM`,
      })),
      temp_targets: [65, 75],
      temp_target: rig.temperatureTarget,
      version: "v2.1",
    }),
  ],
  ["algosetting", () => ({ algos: [{ name: "scrypt(LTC)", id: 0 }], algo_select: 0 })],
  [
    "pools",
    ({ model }) =>
      model.pools.map((pool, dragid) => ({
        url: pool.url,
        user: pool.user,
        pass: pool.password,
        active: pool === model.activePool,
        legal: true,
        dragid,
        "pool-priority": pool.priority,
      })),
  ],
]);
