import type { HardwareName } from "../hardware.ts";
import { bzminer } from "./bzminer.ts";
import { ccminer } from "./ccminer.ts";
import { claymore } from "./claymore.ts";
import { ethminer } from "./ethminer.ts";
import { gminer } from "./gminer.ts";
import { lolminer } from "./lolminer.ts";
import { miniz } from "./miniz.ts";
import { nanominer } from "./nanominer.ts";
import { nbminer } from "./nbminer.ts";
import { onezerominer } from "./onezerominer.ts";
import type { Dialect } from "./program.ts";
import { rigel } from "./rigel.ts";
import { srbminer } from "./srbminer.ts";
import { teamblack } from "./teamblack.ts";
import { trex } from "./trex.ts";
import { wildrig } from "./wildrig.ts";
import { xmrigProxy } from "./xmrig-proxy.ts";
import { zenemy } from "./zenemy.ts";

/** How a kind of program answers, and its default hardware and algorithm. */
interface ProgramFacts {
  readonly answer: Dialect;
  readonly hardware: HardwareName;
  /** The program's own name of it. */
  readonly algorithm: string;
}

/** The mining programs, one line for each; their ports are listed with those of the other kinds of rigs. */
export const programs = {
  trex: { answer: trex, hardware: "nvidiaCards", algorithm: "etchash" },
  zenemy: { answer: zenemy, hardware: "nvidiaCards", algorithm: "kawpow" },
  gminer: { answer: gminer, hardware: "nvidiaCards", algorithm: "Etchash" },
  nbminer: { answer: nbminer, hardware: "nvidiaCards", algorithm: "etchash" },
  rigel: { answer: rigel, hardware: "nvidiaCards", algorithm: "etchash" },
  bzminer: { answer: bzminer, hardware: "nvidiaCards", algorithm: "etchash" },
  srbminer: { answer: srbminer, hardware: "amdCards", algorithm: "etchash" },
  lolminer: { answer: lolminer, hardware: "amdCards", algorithm: "Etchash" },
  teamblack: { answer: teamblack, hardware: "nvidiaCards", algorithm: "etchash" },
  wildrig: { answer: wildrig, hardware: "amdCards", algorithm: "kawpow" },
  onezerominer: { answer: onezerominer, hardware: "nvidiaCards", algorithm: "xelishashv3" },
  nanominer: { answer: nanominer, hardware: "nvidiaCards", algorithm: "Etchash" },
  miniz: { answer: miniz, hardware: "nvidiaCards", algorithm: "144,5" },
  "xmrig-proxy": { answer: xmrigProxy, hardware: "processor", algorithm: "rx/0" },
  ccminer: { answer: ccminer, hardware: "nvidiaCards", algorithm: "lyra2v2" },
  claymore: { answer: claymore, hardware: "nvidiaCards", algorithm: "etchash" },
  ethminer: { answer: ethminer, hardware: "nvidiaCards", algorithm: "ethash" },
} as const satisfies Record<string, ProgramFacts>;

export type ProgramKind = keyof typeof programs;

export const isProgram = (kind: string): kind is ProgramKind => Object.hasOwn(programs, kind);
