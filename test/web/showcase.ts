import { allMiners } from "../../src/store/index.ts";
import { type Dashboard, startDashboard } from "./dashboard.ts";

const dayMs = 86_400_000;
const caller = { actor: "showcase" };
const pool = { url: "stratum+tcp://pool.example.com:3333", user: "demo.rig" };
const btc = 90_000;
const study = 1_000_000_001;

/** A farm of a home with a barn: rooms, prices, and two days behind it. For pictures and measurements. */
export async function startShowcase(): Promise<Dashboard> {
  const dashboard = await startDashboard({
    rigs: [
      {
        name: "Study heater",
        rig: { kind: "avalon", generation: "q", warm: true, pools: [pool] },
        settings: { group: "Study", username: "root", password: "root" },
      },
      { name: "Bitaxe on the desk", rig: { kind: "axeos", warm: true, pools: [pool] }, settings: { group: "Den" } },
      ...Array.from({ length: 6 }, (_, index) => ({
        name: `Barn ${index + 1}`,
        rig: { kind: "whatsminer", warm: true, pools: [pool] } as const,
        settings: {
          group: "Barn",
          username: "admin",
          password: "admin",
          location: { site: "Farm", rack: `Rack ${1 + (index % 2)}` },
        },
      })),
      ...Array.from({ length: 4 }, (_, index) => ({
        name: `Garage ${index + 1}`,
        rig: { kind: "cgminer", dialect: "bmminer", warm: true, pools: [pool] } as const,
        settings: { group: "Garage" },
      })),
      {
        name: "Attic server",
        rig: { kind: "xmrig", warm: true, pools: [pool], token: "demo", restricted: false },
        settings: { group: "Attic", token: "demo" },
      },
    ],
    config: {
      display: { currency: "EUR", locale: "en-GB", timeZone: "Europe/Berlin" },
      poll: { interval: 3600, timeout: 2 },
      electricity: { timeZone: "Europe/Berlin", price: 0.07, zones: [{ from: "22:00", to: "06:00", price: 0.05 }] },
      rates: { btc },
      // Invented: 0.6 satoshi per TH/s and day, and more.
      coins: [{ shortName: "BTC", name: "Bitcoin", algorithm: "sha256", profit: 6e-13 }],
      pools: [{ name: "Main", url: pool.url, worker: "demo", coin: "BTC" }],
      groups: [{ name: "Study" }, { name: "Den", room: true }, { name: "Barn" }, { name: "Garage" }, { name: "Attic" }],
      heating: [{ name: "Study", group: "Study", target: 21, roomTemperature: { api: true } }],
      schedules: [
        { key: "night", name: "Barn at full power at night", cron: "0 22 * * *", do: [{ set: "mode", value: "high" }] },
        { key: "day", name: "Barn normal by day", cron: "0 6 * * *", do: [{ set: "mode", value: "normal" }] },
      ],
    },
  });
  const { service, rigs } = dashboard;
  await service.minerAction({ id: study, action: "set_room_temperature", temperature: 20.4 }, caller);
  // One has lost its network, one is stopped on purpose.
  rigs[11]?.powerOff();
  await service.minerAction({ id: study + 7, action: "stop" }, caller);
  for (let read = 0; read < 3; read += 1) await dashboard.readAll();
  await addPast(dashboard);
  return dashboard;
}

/** Two days as they might have been: more power at night, and now and then a rig that is down. */
async function addPast({ service, store }: Dashboard): Promise<void> {
  const { miners } = await service.listMinerRows({ view: "list", fields: ["hashrate", "power", "algorithm"] }, caller);
  const power = miners.reduce((sum, each) => sum + (each.power ?? 0), 0);
  const hashing = miners.filter(({ algorithm }) => algorithm === "SHA-256");
  const hashrate = hashing.reduce((sum, each) => sum + (each.hashrate ?? 0), 0);
  const { money } = await service.getSummary({}, caller);
  const now = Date.now();
  const date = new Date(now).toLocaleDateString("sv-SE", { timeZone: "Europe/Berlin" });
  // The two rooms since this morning.
  for (const [index, energy] of [5.8, 0.13].entries())
    await store.moneyDays.add([
      [
        { date, minerId: study + index, groupId: 1 + index, coin: "BTC", algorithm: "sha256", currency: "EUR" },
        {
          seconds: 14_400,
          energy: energy * 1000,
          cost: energy * 0.07,
          costBtc: (energy * 0.07) / btc,
          profit: energy * 0.06,
          profitBtc: (energy * 0.06) / btc,
          compared: 14_400,
          uncosted: 0,
          revenue: energy * 0.13,
          revenueBtc: (energy * 0.13) / btc,
          unearned: 0,
        },
      ],
    ]);
  for (let time = now - 2 * dayMs; time < now - 60_000; time += 5 * 60_000) {
    const hour = new Date(time).getUTCHours();
    const night = hour >= 21 || hour < 5 ? 1.08 : 1;
    const wave = night * (1 + 0.012 * Math.sin(time / 3.1e6) + 0.008 * Math.sin(time / 0.7e6));
    const down = Math.sin(time / 9e6) > 0.97 ? 0.9 : 1;
    const factor = wave * down;
    const sample = {
      groupId: allMiners,
      time,
      power: power * factor,
      mining: hashing.length,
      total: miners.length,
      revenue: times(money?.revenuePerDay, factor),
      cost: times(money?.costPerDay, factor),
      profit: times(money?.profitPerDay, factor),
    };
    const hashes = {
      groupId: allMiners,
      time,
      algorithm: "sha256",
      hashrate: hashrate * factor,
      miners: hashing.length,
    };
    await store.farmSamples.append({ currency: "EUR", samples: [sample], hashrates: [hashes] });
  }
}

const times = (amount: number | null | undefined, factor: number): number | null =>
  amount == null ? null : amount * factor;
