import type { HardwareName } from "../hardware.ts";
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
  trex: { answer: trex, hardware: "nvidiaCards", algorithm: "etchash" },
} as const satisfies Record<string, ProgramFacts>;

export type ProgramKind = keyof typeof programs;

export const isProgram = (kind: string): kind is ProgramKind => Object.hasOwn(programs, kind);
