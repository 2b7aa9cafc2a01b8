import { writeSync } from "node:fs";
import { openStore } from "../../src/store/store.ts";
import { newNotification } from "../notification-rows.ts";
import { miner } from "./rows.ts";

/** A process of its own that writes to the store without end and prints what was acknowledged, until it is killed. */
const store = await openStore({ file: process.argv[2] ?? "", now: Date.now });
for (let count = 0; ; count++) {
  const added = await store.miners.add(miner(`10.0.0.${count}`));
  writeSync(1, `miner ${added.id}\n`);
  const command = { minerId: added.id, minerName: "", actor: "", action: "stop", parameters: {} };
  writeSync(1, `command ${(await store.commands.add(command)).id}\n`);
  writeSync(1, `notification ${store.notifications.raise(newNotification())?.id}\n`);
  await store.samples.append([{ minerId: added.id, time: 1_000, hashrate: 1, power: 1, temperature: 1, energy: 1 }]);
  writeSync(1, `sample ${added.id}\n`);
}
