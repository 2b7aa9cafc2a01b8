import { poolStatus, shareOfBoard, temperatureOfBoard } from "../cgminer/reports.ts";
import type { LuxosRig } from "./rig.ts";

/** The sections of a report, by name. */
type Sections = Readonly<Record<string, readonly Readonly<Record<string, unknown>>[]>>;

export interface Report {
  readonly code: number;
  readonly message: (rig: LuxosRig) => string;
  readonly sections: (rig: LuxosRig) => Sections;
}

const version = "2025.9.8.152528";
export const description = `LUXminer ${version}-0badcafe`;
const round = (value: number, digits = 2): number => Number(value.toFixed(digits));

const boardNumbers = ({ model }: LuxosRig): number[] => Array.from({ length: model.hardware.boards }, (_, n) => n);

const summary = ({ model }: LuxosRig): Sections => {
  const { accepted, rejected } = model.shares;
  const minutes = Math.max(1, model.elapsed) / 60;
  return {
    SUMMARY: [
      {
        Accepted: accepted,
        "Best Share": model.bestShare,
        Elapsed: Math.floor(model.elapsed),
        "Found Blocks": 0,
        "GHS 15m": round(model.hashrate(900) / 1e9),
        "GHS 1m": round(model.hashrate(60) / 1e9),
        "GHS 5s": round(model.hashrate(5) / 1e9),
        "GHS av": round(model.averageHashrate / 1e9),
        "Hardware Errors": model.hardwareErrors,
        Rejected: rejected,
        Stale: 0,
        "Total MH": model.hashes / 1e6,
        Utility: round(accepted / minutes),
        "Work Utility": round(model.work / minutes),
      },
    ],
  };
};

const config = (rig: LuxosRig): Sections => ({
  CONFIG: [
    {
      "ASC Count": rig.model.hardware.boards,
      ControlBoardType: "cvitek",
      Cooling: "Air",
      CurtailMode: rig.asleep ? "Sleep" : "None",
      DHCP: true,
      GreenLed: "auto",
      Hostname: rig.body.name,
      ImmersionMode: false,
      IsAtmEnabled: rig.atm.enabled,
      IsPowerSupplyOn: !rig.asleep,
      IsTuning: false,
      MACAddr: rig.body.mac.toLowerCase(),
      Model: rig.model.hardware.model,
      NameplateTHS: round(rig.model.hardware.hashrate / 1e12, 1),
      OS: "LuxOS",
      PSULabel: "APW12SIM",
      "Pool Count": rig.model.pools.length,
      Profile: rig.profile.name,
      ProfileStep: String(rig.profile.step),
      RedLed: rig.redLed,
      SerialNumber: `SIM${rig.body.mac.replaceAll(":", "")}`,
      SystemStatus: "Normal",
    },
  ],
});

const devs = (rig: LuxosRig): Sections => {
  const { model, profile } = rig;
  const { accepted, rejected } = model.shares;
  // In the order in which the boards started, not by number.
  const [first, ...others] = boardNumbers(rig).toReversed();
  return {
    DEVS: [...(first === undefined ? [] : [first]), ...others.toReversed()].map((board) => {
      const share = shareOfBoard(model, board);
      const off = model.boardsOff.has(board);
      return {
        ASC: board,
        Accepted: Math.floor(accepted * share),
        Board: "BHBSIM",
        Connector: `J${board + 7}`,
        "Device Elapsed": Math.floor(model.elapsed),
        Enabled: off ? "N" : "Y",
        "Hardware Errors": Math.floor(model.hardwareErrors * share),
        ID: board,
        IsRamping: false,
        IsUserShutdown: off,
        "MHS 5s": round((model.hashrate(5) * share) / 1e6),
        "MHS av": round((model.averageHashrate * share) / 1e6),
        Name: "",
        "Nominal MHS": off ? 0 : round((profile.hashrate * 1e6) / model.hardware.boards),
        Profile: profile.name,
        Rejected: Math.floor(rejected * share),
        SerialNumber: `SIMB${board}${rig.body.mac.replaceAll(":", "")}`,
        Status: "Alive",
        Temperature: round(temperatureOfBoard(model, board), 0),
        Utility: 0,
      };
    }),
  };
};

const stats = (rig: LuxosRig): Sections => {
  const { model, profile } = rig;
  const chains = boardNumbers(rig).flatMap((board): [string, unknown][] => {
    const on = model.hashing && !model.boardsOff.has(board);
    const hot = round(temperatureOfBoard(model, board), 0);
    return [
      [`chain_acn${board + 1}`, model.hardware.chips],
      [`chain_acs${board + 1}`, "o".repeat(model.hardware.chips)],
      [`chain_rate${board + 1}`, round((model.hashrate(5) * shareOfBoard(model, board)) / 1e9).toFixed(2)],
      [`freq${board + 1}`, on ? profile.frequency : 0],
      [`temp_pcb${board + 1}`, `${hot}-${hot - 13}-${hot - 13}-${hot}`],
      [`temp_chip${board + 1}`, `${hot}-${hot - 13}-${hot - 13}-${hot}`],
    ];
  });
  return {
    STATS: [
      { Miner: version, Type: model.hardware.model },
      {
        ID: "BTM_SOC0",
        Elapsed: Math.floor(model.elapsed),
        "GHS 5s": round(model.hashrate(5) / 1e9),
        "GHS av": round(model.averageHashrate / 1e9),
        rate_unit: "GH",
        total_rateideal: round(model.ratedHashrate / 1e9),
        ...Object.fromEntries(chains),
      },
    ],
  };
};

const pools = (rig: LuxosRig): Sections => ({
  POOLS: rig.model.pools.map((pool, index) => {
    const { accepted, rejected } = rig.model.sharesOf(pool);
    return {
      Accepted: accepted,
      "Best Share": accepted === 0 ? 0 : rig.model.bestShare,
      GROUP: 0,
      POOL: index,
      Priority: pool.priority,
      Quota: 1,
      Rejected: rejected,
      Stale: 0,
      Status: rig.asleep ? "Disabled" : poolStatus(pool),
      "Stratum Active": !rig.asleep && pool === rig.model.activePool,
      "Stratum URL": pool.url.replace(/^.*:\/\//, ""),
      URL: pool.url,
      User: pool.user,
    };
  }),
});

const fans = ({ model, asleep }: LuxosRig): Sections => {
  const percent = asleep ? 20 : Math.round(model.fan * 100);
  return {
    FANCTRL: [{ MinFans: 1, PowerOffSpeed: 20 }],
    FANS: Array.from({ length: model.hardware.fans }, (_, fan) => ({
      FAN: `FAN${fan + 1}`,
      ID: fan,
      RPM: Math.round((model.hardware.fanRpm * percent) / 100),
      Speed: percent,
    })),
  };
};

const temps = (rig: LuxosRig): Sections => ({
  METADATA: [
    {
      BottomLeft: { Label: "Board Exhaust (bottom)", Position: [1, 0] },
      TopLeft: { Label: "Board Exhaust (top)", Position: [0, 0] },
      TopRight: { Label: "Board Intake (top)", Position: [0, 1] },
    },
  ],
  TEMPS: boardNumbers(rig).map((board) => {
    const hot = round(temperatureOfBoard(rig.model, board), 0);
    return { ID: board, TEMP: board, BottomLeft: hot, TopLeft: hot, TopRight: hot - 13 };
  }),
});

const counted = (count: (rig: LuxosRig) => number, what: string) => (rig: LuxosRig) => `${count(rig)} ${what}(s)`;
const fixed = (message: string) => () => message;

export const reports: ReadonlyMap<string, Report> = new Map<string, Report>([
  [
    "version",
    {
      code: 22,
      message: fixed("LUXminer versions"),
      sections: ({ model }) => ({
        VERSION: [{ API: "3.7", LUXminer: `${version}-0badcafe`, Miner: "uart_trans.1.3", Type: model.hardware.model }],
      }),
    },
  ],
  ["summary", { code: 11, message: fixed("Summary"), sections: summary }],
  ["config", { code: 33, message: fixed("LUXminer config"), sections: config }],
  ["devs", { code: 9, message: counted(({ model }) => model.hardware.boards, "ASC"), sections: devs }],
  ["stats", { code: 70, message: fixed("LUXminer stats"), sections: stats }],
  ["pools", { code: 7, message: counted(({ model }) => model.pools.length, "Pool"), sections: pools }],
  [
    "groups",
    {
      code: 327,
      message: fixed("1 Group(s)"),
      sections: ({ model }) => ({ GROUPS: [{ GROUP: 0, Name: "Default", Pools: model.pools.length, Quota: 1 }] }),
    },
  ],
  ["fans", { code: 202, message: counted(({ model }) => model.hardware.fans, "Fan"), sections: fans }],
  ["temps", { code: 201, message: counted(({ model }) => model.hardware.boards, "Temp"), sections: temps }],
  [
    "power",
    {
      code: 311,
      message: fixed("Power usage"),
      sections: ({ model }) => ({ POWER: [{ PSU: false, Watts: Math.round(model.power) }] }),
    },
  ],
  [
    "tempctrl",
    {
      code: 200,
      message: fixed("Temperature control"),
      sections: ({ model, temperatures: { hot, dangerous } }) => ({
        TEMPCTRL: [
          {
            Dangerous: dangerous,
            Hot: hot,
            Mode: model.fanSetting === null ? "Automatic" : "Manual",
            Target: model.temperatureTarget,
          },
        ],
      }),
    },
  ],
  [
    "atm",
    {
      code: 339,
      message: fixed("ATM configuration values"),
      sections: ({ atm }) => ({
        ATM: [{ Enabled: atm.enabled, MaxProfile: atm.highest, MinProfile: "", PostRampMinutes: 15, TempWindow: 5 }],
      }),
    },
  ],
  [
    "profiles",
    {
      code: 323,
      message: fixed("List profiles"),
      sections: (rig) => ({
        PROFILES: rig.profiles.map(({ name, step, frequency, hashrate, watts }) => ({
          Frequency: frequency,
          Hashrate: round(hashrate, 1),
          IsDynamic: true,
          IsTuned: name === rig.profile.name,
          "Profile Name": name,
          Step: String(step),
          Voltage: 13.5,
          Watts: watts,
        })),
      }),
    },
  ],
  [
    "events",
    {
      code: 357,
      message: fixed("Miner Events"),
      sections: ({ model }) => ({
        EVENTS: model.overheated
          ? [{ Code: "OVERTEMP", Description: "Board shutdown due to overtemp.", ID: 0, Target: "BOARD" }]
          : [],
      }),
    },
  ],
]);
