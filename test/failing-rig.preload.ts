// Loaded before a program (node --import) to make it fail on one rig; see failing-rig.ts.
import { failOver } from "./failing-rig.ts";

const { FAILING_DRIVERS = "", FAILING_FIELD = "" } = process.env;
const { drivers } = await import(FAILING_DRIVERS);
failOver(drivers, FAILING_FIELD);
