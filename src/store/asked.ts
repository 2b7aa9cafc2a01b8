import type { Row } from "./database.ts";

/** What the server has answered; without types of pg, which programs that use the package do not have. */
export interface Answer {
  readonly rows: readonly Row[];
}

/** What may be asked over a connection to a PostgreSQL server. */
export interface Asked {
  /** Statements without values, separated by semicolons: one message, and one transaction. */
  run(text: string): Promise<readonly Answer[]>;
  /** One statement with `$1` for its first value. */
  query(text: string, values: readonly unknown[]): Promise<Answer>;
}

export interface AskedSession extends Asked {
  /** False once it can no longer be used. */
  readonly isOpen: boolean;
  close(): Promise<void>;
}
