/** The values of LOG_LEVEL, from the most to the least that is logged. */
export const logLevels: readonly string[] = ["trace", "debug", "info", "warn", "error", "fatal", "silent"];
