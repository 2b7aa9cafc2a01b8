import type { PoolSpec } from "./model.ts";
import type { RigSpec } from "./rig-spec.ts";

/** An invented pool and account. */
const pools = (worker: string, scheme = "stratum+tcp://"): PoolSpec[] => [
  { url: `${scheme}pool.example.com:3333`, user: `demo.${worker}` },
  { url: `${scheme}backup.example.net:3333`, user: `demo.${worker}` },
];

/** The rigs of the demo, shown until a real rig is added. */
export const demoFarm = (): RigSpec[] => [
  { kind: "axeos", name: "bitaxe-desk", mac: "02:52:42:00:00:01", warm: true, pools: pools("desk") },
  { kind: "axeos", name: "bitaxe-shelf", mac: "02:52:42:00:00:02", pausable: false, pools: pools("shelf") },
  {
    kind: "cgminer",
    dialect: "bmminer",
    name: "garage-s19",
    mac: "02:52:42:00:00:03",
    warm: true,
    pools: pools("garage"),
  },
  {
    kind: "whatsminer",
    name: "barn-m50s",
    mac: "02:52:42:00:00:06",
    warm: true,
    pools: pools("barn"),
  },
  {
    kind: "avalon",
    generation: "q",
    name: "bathroom-heater",
    mac: "02:52:42:00:00:07",
    warm: true,
    pools: pools("bathroom"),
  },
  {
    kind: "cgminer",
    hardware: "sticks",
    name: "usb-sticks",
    mac: "02:52:42:00:00:04",
    warm: true,
    pools: pools("sticks"),
  },
  {
    kind: "xmrig",
    name: "attic-server",
    mac: "02:52:42:00:00:05",
    warm: true,
    token: "demo",
    restricted: false,
    pools: [{ url: "xmr.example.com:3333", user: "demo.attic" }],
  },
];

/** The login of a rig of the demo farm: the maker's default. */
export function demoLogin(spec: RigSpec): { username?: string; password?: string; token?: string } {
  if (spec.kind === "xmrig") return spec.token === undefined ? {} : { token: spec.token };
  if (spec.kind === "whatsminer") return { username: "admin", password: "admin" };
  return spec.kind === "avalon" ? { username: "root", password: "root" } : {};
}
