/** Where the client logs: a logger of pino, or the console. */
export interface Log {
  info(fields: object, message: string): void;
  warn(fields: object, message: string): void;
}
