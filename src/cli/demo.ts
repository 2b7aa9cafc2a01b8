import { randomBytes } from "node:crypto";
import { checkedConfig } from "../config/index.ts";
import type { Config } from "../config/schema.ts";
import type { MiningService } from "../contract/service.ts";
import type { DemoHostRow } from "../service/index.ts";
import { DemoHost, demoHostName, demoProgram } from "../simulator/demo-host.ts";
import { demoFarm, demoLogin, houseRigs, startDemoHouse, startFarm } from "../simulator/index.ts";
import { version } from "../version.ts";
import { pairAgent } from "./pair-agent.ts";

/** The demo of this process: virtual rigs at free ports, and all that a farm of one's own would have around them. */
export interface RunningDemo {
  /** Rigs, groups, pools, rules and maintenance. */
  readonly config: Config;
  /** Its host with graphics cards; absent unless the demo is alone. */
  readonly host?: DemoHostRow;
  /** What coins earn, in BTC per MH/s and day. */
  readonly profits: Readonly<Record<string, number>>;
  /** Sections that hold until the user saves one, or the demo leaves. */
  readonly sections: Partial<Config>;
  /** Connects the agent of its host, if there is one, with the service that has its rows. `managed`: those of its miners. */
  connect(service: Pick<MiningService, "takeAgent">, managed: readonly { readonly id: number }[]): void;
  /** Closes it once, however often it is called. */
  close(): Promise<void>;
}

/** `isAlone`: there is no real rig, so that the demo may have groups, rules and settings, too. */
export async function startDemo(isAlone: boolean): Promise<RunningDemo> {
  const specs = demoFarm();
  const farm = await startFarm({ rigs: specs });
  const house = isAlone ? await startDemoHouse(farm) : null;
  const host = isAlone ? await DemoHost.start({ version }) : null;
  const miners = farm.rigs.map(({ address, name }, index) => {
    const spec = specs[index];
    const group = isAlone ? { group: groups[name] ?? otherGroup } : {};
    const watts = nameplates[name];
    const power = watts === undefined ? {} : { powerNameplate: watts };
    return { address, name, tags: ["demo"], ...group, ...power, ...(spec === undefined ? {} : demoLogin(spec)) };
  });
  const whole = checkedConfig(house === null ? { miners } : { ...surroundings(), ...settings(house.url), miners });
  const { electricity, rates, heating, follow } = whole;
  let closing: Promise<unknown> | undefined;
  return {
    config: whole,
    ...(host === null ? {} : { host: hostRow }),
    profits: isAlone ? { BTC: 5.6e-13, XMR: 3.1e-4, ETC: 7e-8 } : {},
    sections: isAlone ? { electricity, rates, heating, follow } : {},
    connect: (service, managed) => {
      for (const { id } of managed)
        host?.connect(id, (agent) => pairAgent(agent, (connection) => service.takeAgent?.(hostRow.digest, connection)));
    },
    close: async () => {
      closing ??= Promise.all([farm.close(), house?.close(), host?.close()]);
      await closing;
    },
  };
}

const groups: Readonly<Record<string, string>> = {
  [houseRigs.heater]: "Bathroom",
  [houseRigs.sun]: "Barn",
  "garage-s19": "Garage",
  "attic-server": "Attic",
};
const otherGroup = "Study";
const cardPool = "Ethereum Classic pool";

/** No token has this digest, so that no other agent connects as this host. */
const hostRow: DemoHostRow = {
  hostname: demoHostName,
  description: "Computer with four graphics cards",
  digest: randomBytes(32).toString("hex"),
  group: "Garage",
  pool: cardPool,
  software: demoProgram.software,
  miner: "garage-cards",
};

/** W, for a rig whose firmware reports no power: its cost shows how an estimate is marked. */
const nameplates: Readonly<Record<string, number>> = { "garage-s19": 3250 };

/** Invented, but like those of an ordinary day. */
const settings = (house: string) => ({
  electricity: { price: 0.1, zones: [{ from: "22:00", to: "06:00", price: 0.06 }] },
  rates: { btc: 95_000 },
  heating: {
    name: "Bathroom",
    group: "Bathroom",
    target: 22,
    minOn: 60,
    minOff: 60,
    roomTemperature: { url: house, path: "bathroom", every: 10 },
  },
  follow: {
    name: "Roof",
    group: "Barn",
    measures: "export",
    dwell: 30,
    minOn: 60,
    minOff: 60,
    surplus: { url: house, path: "export", every: 10 },
  },
});

const surroundings = () => ({
  groups: [...Object.values(groups), otherGroup].map((name) => ({ name })),
  pools: [
    { name: "Example pool", url: "stratum+tcp://pool.example.com:3333", worker: "demo", coin: "BTC" },
    { name: "Backup pool", url: "stratum+tcp://backup.example.net:3333", worker: "demo", coin: "BTC" },
    { name: "Monero pool", url: "xmr.example.com:3333", worker: "demo", coin: "XMR" },
    { name: cardPool, url: "stratum+tcp://etc.example.com:4444", worker: "demo", coin: "ETC" },
  ],
  poolGroups: [{ name: "Bitcoin", pools: ["Example pool", "Backup pool"] }],
  rules: [
    {
      key: "demo-too-hot",
      name: "Say when a rig in the study runs hot",
      scope: { groups: ["Study"] },
      when: { all: [{ reading: "temperature", above: 65, clear: 61 }] },
      do: [{ notify: "all", severity: "warning", text: "{{ miner.name }} has reached {{ reading.temperature }} °C" }],
    },
    { use: "restart-when-hashrate-drops" },
    { use: "sleep-when-too-hot", with: { temperature: 92 } },
  ],
  schedules: [
    {
      key: "demo-quiet-nights",
      name: "Quiet nights in the study",
      weekly: { from: "23:00", to: "06:30" },
      // The other rigs of the study cannot be stopped.
      scope: { miners: ["bitaxe-desk"] },
      do: [{ action: "stop" }],
      onEnd: [{ action: "start" }],
    },
  ],
  maintenance: [
    { name: "New fan for the server", groups: ["Attic"], until: new Date(Date.now() + maintenanceMs).toISOString() },
  ],
});

const maintenanceMs = 6 * 3_600_000;
