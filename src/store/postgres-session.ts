import { Socket } from "node:net";
import type { ClientConfig, QueryResult, Client as Session } from "pg";
import { RigbridgeError } from "../contract/problems.ts";
import type { AskedSession } from "./asked.ts";
import type { SqlValue } from "./database.ts";

/** Holds everything that the store has in its database. */
export const schema = "rigbridge";

export interface SessionOptions {
  readonly url: string;
  /** Shown by the server in its list of connections; letters, digits and blanks. */
  readonly program: string;
  readonly readOnly: boolean;
  /** Until a statement has answered; then the session is given up. */
  readonly timeoutMs: number;
  /** Until the server has answered the login. */
  readonly connectMs?: number;
}

/** The server has not answered; what it was asked may still be done. */
export class NoAnswer extends Error {}

/**
 * Everything is in one schema, and names without a schema mean nothing else. Strings are read as they are written here,
 * and a transaction that this process leaves open, such as while it is stopped, ends soon.
 */
const settings = ({ program, readOnly, timeoutMs }: SessionOptions): string =>
  [
    `application_name = '${program}'`,
    `search_path = ${schema}`,
    "standard_conforming_strings = on",
    "bytea_output = hex",
    "extra_float_digits = 1",
    `statement_timeout = ${timeoutMs}`,
    `lock_timeout = ${timeoutMs}`,
    `idle_in_transaction_session_timeout = ${timeoutMs}`,
    // Not set for writing, so that a server which takes no writes still refuses them.
    ...(readOnly ? ["default_transaction_read_only = on"] : []),
  ]
    .map((setting) => `set ${setting}`)
    .join("; ");

/** One connection to a PostgreSQL server. It throws the errors of pg, which quote values: never show them. */
export class PostgresSession implements AskedSession {
  readonly #client: Session;
  readonly #socket: Socket;
  readonly #timeoutMs: number;
  #isOpen = true;

  private constructor(client: Session, socket: Socket, timeoutMs: number) {
    this.#client = client;
    this.#socket = socket;
    this.#timeoutMs = timeoutMs;
    const ended = (): void => {
      this.#isOpen = false;
    };
    // Also while nobody waits for an answer.
    client.on("error", ended);
    client.on("end", ended);
  }

  static async open(options: SessionOptions): Promise<PostgresSession> {
    const { Client } = await import("pg");
    const socket = new Socket();
    const config: ClientConfig = {
      connectionString: options.url,
      connectionTimeoutMillis: options.connectMs ?? 5_000,
      keepAlive: true,
      // Its own socket, because one whose server does not answer ends only by force.
      stream: () => socket,
      types: { getTypeParser: (type: number) => parsers.get(type) ?? asText },
    };
    const client = new Client(config);
    const session = new PostgresSession(client, socket, options.timeoutMs);
    try {
      await client.connect();
      await session.run(settings(options));
      return session;
    } catch (error) {
      session.destroy();
      throw error;
    }
  }

  /** False once it can no longer be used. */
  get isOpen(): boolean {
    return this.#isOpen;
  }

  /** Statements without values, separated by semicolons: one message, and one transaction. */
  async run(text: string): Promise<readonly QueryResult[]> {
    const answer: QueryResult | readonly QueryResult[] = await this.#answered(this.#client.query(text));
    return results(answer);
  }

  /** One statement with `$1` for its first value. */
  query(text: string, values: readonly unknown[]): Promise<QueryResult> {
    return this.#answered(this.#client.query(text, [...values]));
  }

  /** Without waiting for an answer that is still due. */
  destroy(): void {
    this.#isOpen = false;
    this.#socket.destroy();
  }

  async close(): Promise<void> {
    this.#isOpen = false;
    const timer = setTimeout(() => this.#socket.destroy(), this.#timeoutMs);
    await this.#client.end().catch(() => undefined);
    clearTimeout(timer);
  }

  /** A session without an answer cannot be used again: the next answer would be that of an earlier question. */
  async #answered<T>(answer: Promise<T>): Promise<T> {
    let timer: NodeJS.Timeout | undefined;
    const late = new Promise<never>((_, reject) => {
      // The server ends the statement itself if it is only slow.
      timer = setTimeout(() => reject(new NoAnswer()), this.#timeoutMs + 1_000);
    });
    try {
      return await Promise.race([answer, late]);
    } catch (error) {
      if (error instanceof NoAnswer) this.destroy();
      throw error;
    } finally {
      clearTimeout(timer);
    }
  }
}

const results = (answer: QueryResult | readonly QueryResult[]): readonly QueryResult[] =>
  "rows" in answer ? [answer] : answer;

const whole = (text: string): number => {
  const value = Number(text);
  if (Number.isSafeInteger(value)) return value;
  throw new RigbridgeError("internal", "The store holds a whole number that is too large to be read exactly");
};

const asText = (text: string): string => text;
const bytes = (text: string): Uint8Array => new Uint8Array(Buffer.from(text.slice(2), "hex"));

/** By the object id of the type (the catalogue pg_type); all others are read as text. Sums of bigint are numeric. */
const parsers: ReadonlyMap<number, (text: string) => SqlValue> = new Map<number, (text: string) => SqlValue>([
  [16, (text) => (text === "t" ? 1 : 0)],
  [17, bytes],
  [20, whole],
  [21, Number],
  [23, Number],
  [26, Number],
  [700, Number],
  [701, Number],
  [1700, (text) => (text.includes(".") ? Number(text) : whole(text))],
]);
