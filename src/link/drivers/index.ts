import type { Driver } from "../driver.ts";
import { antminer } from "./antminer.ts";
import { avalon } from "./avalon.ts";
import { axeos } from "./axeos.ts";
import { braiins } from "./braiins.ts";
import { cgminer } from "./cgminer.ts";
import { luxos } from "./luxos.ts";
import { vnish } from "./vnish.ts";
import { whatsminer } from "./whatsminer.ts";
import { xmrig } from "./xmrig.ts";

/** In order of preference: the RPC of cgminer is spoken by nearly everything, so it comes last. */
export const drivers: readonly Driver[] = [axeos, xmrig, braiins, luxos, vnish, whatsminer, avalon, antminer, cgminer];
