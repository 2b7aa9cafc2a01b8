// Loaded before a program (node --import): lets it fail over one rig, as failing-rig.ts says.
import { failOver } from "./failing-rig.ts";

const { FAILING_DRIVERS = "", FAILING_FIELD = "" } = process.env;
const { drivers } = await import(FAILING_DRIVERS);
failOver(drivers, FAILING_FIELD);
