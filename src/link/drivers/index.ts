import type { Driver } from "../driver.ts";
import { antminer } from "./antminer/index.ts";
import { avalon } from "./avalon/index.ts";
import { axeos } from "./axeos/index.ts";
import { braiins } from "./braiins/index.ts";
import { ccminer } from "./ccminer/index.ts";
import { cgminer } from "./cgminer/index.ts";
import { claymore } from "./claymore/index.ts";
import { ethminer } from "./ethminer/index.ts";
import { luxos } from "./luxos/index.ts";
import { vnish } from "./vnish/index.ts";
import { whatsminer } from "./whatsminer/index.ts";
import { xmrig } from "./xmrig/index.ts";

/** In order of preference: nearly every device speaks cgminer's RPC, so it comes last. */
export const drivers: readonly Driver[] = [
  axeos,
  xmrig,
  braiins,
  luxos,
  vnish,
  whatsminer,
  avalon,
  antminer,
  ethminer,
  claymore,
  ccminer,
  cgminer,
];
