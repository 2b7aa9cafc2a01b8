import { rigbridge } from "./command.mjs";

/** `npm run rigbridge -- read 192.168.1.50`. */
process.exitCode = await rigbridge(process.argv.slice(2));
