import { farmOf, startFarm } from "../../src/simulator/index.ts";

/** Run as a process of its own: so many cgminer rigs behind one listener, until the parent goes. */
const [count = "0", port = "0"] = process.argv.slice(2);
const farm = await startFarm(farmOf(Number(count), { cgminer: 1 }, { ports: { cgminer: Number(port) } }));
process.send?.(farm.rigs.map(({ address }) => address));
process.on("disconnect", () => process.exit());
