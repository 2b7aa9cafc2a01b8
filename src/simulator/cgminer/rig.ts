import type { Pool, RigModel } from "../model.ts";
import type { RigBody } from "../rig.ts";
import type { Dialect } from "./dialects.ts";
import type { Writer } from "./writer.ts";

/** The state of a rig in the cgminer protocol. */
export interface CgminerRig {
  readonly body: RigBody;
  readonly model: RigModel;
  readonly dialect: Dialect;
  /** Whether the client may use a privileged command. */
  readonly may: (command: string) => boolean;
  /** The second algorithm of a program that mines two; null without one. */
  readonly dualAlgorithm: string | null;
  /** The pools after a `restart`: the initial ones or those saved last. */
  savedPools: readonly Pool[];
}

/** One answer before it is written, with the codes and messages of the API. */
export interface Answer {
  readonly status: "S" | "I" | "W" | "E";
  readonly code: number;
  readonly message: string;
  /** Without the description of the program. */
  readonly bare?: true;
  readonly body?: {
    readonly section: string;
    /** Records begin with their own number, so that plain text does not name the section. */
    readonly numbered: boolean;
    readonly write: (out: Writer) => void;
  };
}

export interface Command {
  /** Only with write access. */
  readonly privileged: boolean;
  /** Changes something. */
  readonly writes: boolean;
  /** A string is an answer without a status. */
  readonly run: (rig: CgminerRig, parameter: string | null) => Answer | string;
}

export const status = (status: Answer["status"], code: number, message: string): Answer => ({ status, code, message });
