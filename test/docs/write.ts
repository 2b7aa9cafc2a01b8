import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { devicesText } from "./devices.ts";

/** `npm run devices [-- --write]`: prints docs/devices.md as the drivers are now, and writes it. */
const text = await devicesText();
if (process.argv.includes("--write")) writeFileSync(join(import.meta.dirname, "../../docs/devices.md"), text);
else process.stdout.write(text);
