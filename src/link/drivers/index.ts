import type { Driver } from "../driver.ts";
import { axeos } from "./axeos.ts";
import { cgminer } from "./cgminer.ts";
import { xmrig } from "./xmrig.ts";

/** In order of preference: the RPC of cgminer is spoken by nearly everything, so it comes last. */
export const drivers: readonly Driver[] = [axeos, xmrig, cgminer];
