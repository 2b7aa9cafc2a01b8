import type { MiningProgram } from "./mining-program.ts";
import { bzMiner } from "./programs/bzminer.ts";
import { ccMiner, cpuMinerOpt, cryptoDredge, zEnemy } from "./programs/ccminer.ts";
import { bfgMiner, cgMiner, sgMiner } from "./programs/cgminer.ts";
import { claymore, phoenixMiner, ttMiner } from "./programs/claymore.ts";
import { ethMiner, kawpowMiner } from "./programs/ethminer.ts";
import { gMiner } from "./programs/gminer.ts";
import { lolMiner } from "./programs/lolminer.ts";
import { miniZ } from "./programs/miniz.ts";
import { nanoMiner } from "./programs/nanominer.ts";
import { nbMiner } from "./programs/nbminer.ts";
import { oneZeroMiner } from "./programs/onezerominer.ts";
import { rigel } from "./programs/rigel.ts";
import { srbMiner } from "./programs/srbminer.ts";
import { tRex } from "./programs/t-rex.ts";
import { teamBlack } from "./programs/teamblack.ts";
import { teamRedMiner } from "./programs/teamredminer.ts";
import { verthashMiner } from "./programs/verthashminer.ts";
import { wildRig } from "./programs/wildrig.ts";
import { xmrig, xmrigCc, xmrigProxy } from "./programs/xmrig.ts";

export type { MiningProgram } from "./mining-program.ts";

/** Mining programs that an agent can start. Ids in the style of the documented API. */
export const miningPrograms: readonly MiningProgram[] = [
  xmrig,
  xmrigProxy,
  tRex,
  lolMiner,
  gMiner,
  teamRedMiner,
  nbMiner,
  rigel,
  bzMiner,
  srbMiner,
  teamBlack,
  wildRig,
  oneZeroMiner,
  miniZ,
  ccMiner,
  cpuMinerOpt,
  phoenixMiner,
  ethMiner,
  kawpowMiner,
  claymore,
  nanoMiner,
  cryptoDredge,
  sgMiner,
  cgMiner,
  bfgMiner,
  ttMiner,
  zEnemy,
  xmrigCc,
  verthashMiner,
];

/** The id of programs declared in an agent's configuration file; it cannot be started itself. */
export const customSoftware = "CustomMiner";

/** Ids and names for GET /api/miningsoftware. */
export const miningSoftware: readonly { readonly id: string; readonly name: string }[] = [
  ...miningPrograms.map(({ id, name }) => ({ id, name })),
  { id: customSoftware, name: "Custom mining software" },
];

export const programOf = (id: string): MiningProgram | undefined => miningPrograms.find((each) => each.id === id);
