import type { Pool, RigModel } from "../model.ts";
import type { RigBody } from "../rig.ts";
import type { Dialect } from "./dialects.ts";
import type { Writer } from "./writer.ts";

/** A rig as the cgminer protocol sees it. */
export interface CgminerRig {
  readonly body: RigBody;
  readonly model: RigModel;
  readonly dialect: Dialect;
  /** Whether who asks may have a command that is not for everybody. */
  readonly may: (command: string) => boolean;
  /** What `restart` comes back with: pools as started with or saved last. */
  savedPools: readonly Pool[];
}

/** One answer before it is written; codes and sentences are those of the API. */
export interface Answer {
  readonly status: "S" | "I" | "W" | "E";
  readonly code: number;
  readonly message: string;
  /** Without the program's own description. */
  readonly bare?: true;
  readonly body?: {
    readonly section: string;
    /** Records say their own number first, so that plain text does not name the section. */
    readonly numbered: boolean;
    readonly write: (out: Writer) => void;
  };
}

export interface Command {
  /** Only for those with write access. */
  readonly privileged: boolean;
  /** Changes something. */
  readonly writes: boolean;
  /** A word is answered without a status around it. */
  readonly run: (rig: CgminerRig, parameter: string | null) => Answer | string;
}

export const status = (status: Answer["status"], code: number, message: string): Answer => ({ status, code, message });
