import type { SerializableError, TestResult } from "@jest/test-result";
import type { Config } from "@jest/types";

export interface RunRequest {
  readonly kind: "run";
  readonly file: string;
  readonly config: Config.ProjectConfig;
  /** Of `-t`; null: all tests. */
  readonly testNamePattern: string | null;
}

/** What a test process is asked. */
export type Request = RunRequest | { readonly kind: "end" };

/** What a test process reports. */
export type Report =
  /** It begins a test, a hook or the loading of a file, which ends within this time. */
  | { readonly kind: "step"; readonly name: string; readonly limitMs: number }
  | { readonly kind: "done"; readonly result: TestResult }
  /** The file could not be loaded. */
  | { readonly kind: "failed"; readonly error: SerializableError }
  /** An error that nothing caught while no file was running. */
  | { readonly kind: "stray"; readonly error: SerializableError };
