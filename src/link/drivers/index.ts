import type { Driver } from "../driver.ts";
import { antminer } from "./antminer/index.ts";
import { apollo } from "./apollo/index.ts";
import { auradine } from "./auradine/index.ts";
import { avalon } from "./avalon/index.ts";
import { axeos } from "./axeos/index.ts";
import { braiins } from "./braiins/index.ts";
import { bzminer } from "./bzminer/index.ts";
import { ccminer } from "./ccminer/index.ts";
import { cgminer } from "./cgminer/index.ts";
import { claymore } from "./claymore/index.ts";
import { elphapex } from "./elphapex/index.ts";
import { epic } from "./epic/index.ts";
import { ethminer } from "./ethminer/index.ts";
import { gminer } from "./gminer/index.ts";
import { goldshell } from "./goldshell/index.ts";
import { hammer } from "./hammer/index.ts";
import { hiveon } from "./hiveon/index.ts";
import { iceriver } from "./iceriver/index.ts";
import { innosilicon } from "./innosilicon/index.ts";
import { lolminer } from "./lolminer/index.ts";
import { luxos } from "./luxos/index.ts";
import { mara } from "./mara/index.ts";
import { miniz } from "./miniz/index.ts";
import { mskminer } from "./mskminer/index.ts";
import { mujina } from "./mujina/index.ts";
import { nanominer } from "./nanominer/index.ts";
import { nbminer } from "./nbminer/index.ts";
import { onezerominer } from "./onezerominer/index.ts";
import { proto } from "./proto/index.ts";
import { rigel } from "./rigel/index.ts";
import { sealminer } from "./sealminer/index.ts";
import { srbminer } from "./srbminer/index.ts";
import { teamblack } from "./teamblack/index.ts";
import { trex } from "./trex/index.ts";
import { vnish } from "./vnish/index.ts";
import { volcminer } from "./volcminer/index.ts";
import { whatsminer } from "./whatsminer/index.ts";
import { wildrig } from "./wildrig/index.ts";
import { xmrig } from "./xmrig/index.ts";
import { xmrigProxy } from "./xmrig-proxy/index.ts";
import { zenemy } from "./zenemy/index.ts";

/** In order of preference: nearly every device speaks cgminer's RPC, so it comes last. */
export const drivers: readonly Driver[] = [
  axeos,
  xmrig,
  braiins,
  luxos,
  vnish,
  whatsminer,
  avalon,
  // Firmware for Antminers, whose login has their realm.
  mara,
  antminer,
  epic,
  auradine,
  iceriver,
  elphapex,
  goldshell,
  sealminer,
  proto,
  apollo,
  volcminer,
  hammer,
  innosilicon,
  hiveon,
  mskminer,
  // Mining programs: each requests its own page.
  trex,
  zenemy,
  gminer,
  nbminer,
  rigel,
  bzminer,
  srbminer,
  lolminer,
  onezerominer,
  wildrig,
  nanominer,
  teamblack,
  miniz,
  mujina,
  xmrigProxy,
  // These ask in other protocols, after HTTP has shown nothing.
  ethminer,
  claymore,
  ccminer,
  cgminer,
];
