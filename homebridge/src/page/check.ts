import { type Mistake, RigbridgeError } from "rigbridge";
import { isConfigured, readSettings } from "../config/read.ts";

export interface Checked {
  /** Whether the plugin would do anything. */
  readonly isConfigured: boolean;
  readonly mistakes: readonly Mistake[];
}

/** What the plugin would say of a block of `config.json`. */
export async function checked(written: unknown): Promise<Checked> {
  try {
    await readSettings(written);
    return { isConfigured: isConfigured(written), mistakes: [] };
  } catch (error) {
    if (!(error instanceof RigbridgeError)) throw error;
    return { isConfigured: isConfigured(written), mistakes: error.errors };
  }
}
