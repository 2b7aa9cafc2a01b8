import type { HardwareName } from "../hardware.ts";
import { bzminer } from "./bzminer.ts";
import { gminer } from "./gminer.ts";
import { nbminer } from "./nbminer.ts";
import type { Dialect } from "./program.ts";
import { rigel } from "./rigel.ts";
import { srbminer } from "./srbminer.ts";
import { trex } from "./trex.ts";
import { zenemy } from "./zenemy.ts";

/** How a kind of program answers, and what one mines with by default. */
interface ProgramFacts {
  readonly answer: Dialect;
  readonly hardware: HardwareName;
  /** In the program's own word. */
  readonly algorithm: string;
}

/** The mining programs, one line for each; their ports stand with those of the other kinds of rigs. */
export const programs = {
  trex: { answer: trex, hardware: "nvidiaCards", algorithm: "etchash" },
  zenemy: { answer: zenemy, hardware: "nvidiaCards", algorithm: "kawpow" },
  gminer: { answer: gminer, hardware: "nvidiaCards", algorithm: "Etchash" },
  nbminer: { answer: nbminer, hardware: "nvidiaCards", algorithm: "etchash" },
  rigel: { answer: rigel, hardware: "nvidiaCards", algorithm: "etchash" },
  bzminer: { answer: bzminer, hardware: "nvidiaCards", algorithm: "etchash" },
  srbminer: { answer: srbminer, hardware: "amdCards", algorithm: "etchash" },
} as const satisfies Record<string, ProgramFacts>;

export type ProgramKind = keyof typeof programs;

export const isProgram = (kind: string): kind is ProgramKind => Object.hasOwn(programs, kind);
