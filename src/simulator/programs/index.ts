import type { HardwareName } from "../hardware.ts";
import { ccminer } from "./ccminer.ts";
import { claymore } from "./claymore.ts";
import { ethminer } from "./ethminer.ts";
import type { Dialect } from "./program.ts";
import { trex } from "./trex.ts";

/** How a kind of program answers, and what one mines with by default. */
interface ProgramFacts {
  readonly answer: Dialect;
  readonly hardware: HardwareName;
  /** In the program's own word. */
  readonly algorithm: string;
}

/** The mining programs, one line for each; their ports stand with those of the other kinds of rigs. */
export const programs = {
  ccminer: { answer: ccminer, hardware: "nvidiaCards", algorithm: "lyra2v2" },
  claymore: { answer: claymore, hardware: "nvidiaCards", algorithm: "etchash" },
  ethminer: { answer: ethminer, hardware: "nvidiaCards", algorithm: "ethash" },
  trex: { answer: trex, hardware: "nvidiaCards", algorithm: "etchash" },
} as const satisfies Record<string, ProgramFacts>;

export type ProgramKind = keyof typeof programs;

export const isProgram = (kind: string): kind is ProgramKind => Object.hasOwn(programs, kind);
