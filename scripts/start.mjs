import { rigbridge } from "./command.mjs";

/** `npm start`: installs and builds what is missing, then runs the service. */
process.exitCode = await rigbridge(["serve", ...process.argv.slice(2)]);
