import { unknownReadings } from "../../src/contract/readings.ts";
import { type OfferedControl, setControl, toggle } from "../../src/link/controls.ts";
import type { Driver, Rig } from "../../src/link/driver.ts";
import { normalMac, unknownIdentity } from "../../src/link/identity.ts";
import { Notes, TolerantReader } from "../../src/link/tolerant-reader.ts";
import { words } from "../../src/link/transports/http.ts";

/**
 * The smallest possible driver, for an invented miner: GET /state answers
 * {"mac":"02:51:00:00:00:01","mhs":950.5,"watts":42,"on":true}, POST /power {"on":false} stops it.
 */
export const hotbox: Driver = {
  id: "hotbox",
  name: "Hotbox",
  ports: [80],
  evidence: { readings: "other source", controls: "other source" },
  recognise: ({ root }) => (root?.body.includes("<title>Hotbox</title>") ? { make: "Hotbox" } : undefined),
  connect: ({ http }) => {
    const offeredBy = (on: boolean | null): OfferedControl[] => [
      {
        control: toggle("mining", on, { lasting: false, restartsMining: true, seconds: 5 }),
        set: async (value, signal) =>
          words((await http.send({ method: "POST", path: "/power", body: { on: value } }, signal)).body),
      },
    ];
    const rig: Rig = {
      read: async (signal) => {
        const { value } = await http.getJson("/state", signal);
        const notes = new Notes();
        const state = new TolerantReader(value, notes, "");
        const on = state.boolean("on");
        return {
          identity: { ...unknownIdentity, make: "Hotbox", mac: normalMac(state.text("mac")) },
          readings: {
            ...unknownReadings(),
            hashrate: state.number("mhs", { times: 1e6 }),
            power: state.number("watts"),
            powerSource: "reported",
            mining: on,
            notes: notes.list(),
          },
          controls: offeredBy(on).map(({ control }) => control),
          pools: [],
          devices: [],
          poolActions: [],
          software: null,
          logInterval: null,
          workUtility: null,
        };
      },
      set: (key, value, signal) => setControl(offeredBy(null), key, value, signal),
      pools: {},
      close: () => http.close(),
    };
    return rig;
  },
};
