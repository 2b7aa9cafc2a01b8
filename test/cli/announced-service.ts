import { runService, type ServeOptions } from "../../src/cli/run-service.ts";

/** `rigbridge serve` with its own mDNS on loopback. Arguments: the port of mDNS, the folder, the address to listen on. */
const [udpPort, data = "", host = ""] = process.argv.slice(2);
const options: ServeOptions = { data, host, port: 0, makeKey: true };
await runService(options, { udpPort: Number(udpPort), interfaces: () => ["127.0.0.1"] });
process.stdout.write("Nothing more is started\n");
