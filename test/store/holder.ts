import { openStore } from "../../src/store/store.ts";

/** A process of its own that opens the store named on its command line, says so, and holds it until it is killed. */
await openStore({ file: process.argv[2] ?? "", now: Date.now });
process.stdout.write("open\n");
setInterval(() => undefined, 60_000);
