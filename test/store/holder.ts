import { openStore } from "../../src/store/store.ts";

/** A process that opens the store named on its command line, reports it, and keeps it open until it is killed. */
await openStore({ file: process.argv[2] ?? "", now: Date.now });
process.stdout.write("open\n");
setInterval(() => undefined, 60_000);
