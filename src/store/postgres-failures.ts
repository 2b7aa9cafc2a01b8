import { type ProblemCode, RigbridgeError } from "../contract/problems.ts";
import { fencedState } from "./lease.ts";
import { NoAnswer } from "./postgres-session.ts";

/** Errors of the server that a user can act on, by SQLSTATE (PostgreSQL's manual, appendix A). */
const refusals: ReadonlyMap<string, string> = new Map([
  ["25006", "it is read-only"],
  ["42501", "its role lacks a right that it had at the start"],
  ["42P01", "its tables are missing"],
  ["53100", "the disk of the server is full; free some space"],
  ["58030", "the server's disk reports an error"],
  ["XX001", "it is damaged; restore it from a backup"],
  ["XX002", "it is damaged; restore it from a backup"],
]);

/** Those that pass, and after which the same call may succeed. */
const passing: ReadonlyMap<string, string> = new Map([
  ["28000", "the server does not admit this role from this machine (pg_hba.conf)"],
  ["28P01", "the server refuses the password"],
  ["3D000", "the database does not exist"],
  ["40001", "another program was writing the same rows"],
  ["40P01", "another program was writing the same rows"],
  ["53200", "the server has no memory left"],
  ["53300", "all connections of the server are in use"],
  ["55P03", "another program keeps its rows locked"],
  ["57014", "the server did not finish in time"],
  ["57P01", "the server is shutting down"],
  ["57P02", "the server is restarting after a crash"],
  ["57P03", "the server is starting or shutting down"],
  ["57P05", "the server closed an idle connection"],
  ["25P03", "this program paused in a transaction"],
]);

/** Errors of the connection, by the system's code. */
const lines: ReadonlyMap<string, string> = new Map([
  ["ECONNREFUSED", "nothing listens at its address"],
  ["ENOENT", "nothing listens at its address"],
  ["EACCES", "this user may not open its socket"],
  ["ENOTFOUND", "its host name is not known"],
  ["EAI_AGAIN", "its host name cannot be looked up"],
  ["EHOSTUNREACH", "there is no route to its host"],
  ["ENETUNREACH", "there is no route to its host"],
  ["ETIMEDOUT", "the server does not answer"],
]);

const codeOf = (error: unknown): string =>
  error instanceof Error && "code" in error && typeof error.code === "string" ? error.code : "";

const isSqlState = (code: string): boolean => /^[0-9A-Z]{5}$/.test(code) && !code.startsWith("E");

/** Whether the server itself has refused a statement, and with it the transaction: nothing of it is stored. */
export const isRefusal = (error: unknown): boolean => {
  const code = codeOf(error);
  // Class 57P: the server ends the connection, perhaps after a commit.
  return error instanceof RigbridgeError || (isSqlState(code) && !code.startsWith("57P") && !code.startsWith("08"));
};

/** Whether `fence` has refused it, because another service has the lease. */
export const isFenced = (error: unknown): boolean => codeOf(error) === fencedState;

/** After a failover the address leads to another server. */
export const isReadOnly = (error: unknown): boolean => codeOf(error) === "25006";

/** Why there is no connection. Messages of pg are not shown, because those of the server may quote values. */
const lineFailure = (error: unknown): string => {
  if (error instanceof NoAnswer) return "the server does not answer";
  const code = codeOf(error);
  const known = lines.get(code);
  if (known !== undefined) return known;
  const text = error instanceof Error ? error.message : "";
  if (text === "timeout expired") return "the server does not answer";
  if (text.startsWith("The server does not support SSL")) return "the server does not offer TLS";
  if (text.startsWith("SASL: SCRAM-SERVER-FIRST-MESSAGE: client password"))
    return "the server asks for a password, and the URL has none";
  if (/CERT|TLS|SSL/.test(code)) return `its TLS certificate is not accepted (${code})`;
  return "the connection broke off";
};

/** Why there is no connection, or it broke off, for a sentence. */
export const awayReason = (error: unknown): string => {
  const code = codeOf(error);
  if (!isSqlState(code)) return lineFailure(error);
  return refusals.get(code) ?? passing.get(code) ?? `the server reports ${code}`;
};

/** Names of the statement's table and constraint, which are the program's own: never the message, which quotes values. */
const place = (error: unknown): string =>
  ["table", "column", "constraint"]
    .flatMap((key) => {
      const name: unknown = error instanceof Error ? Reflect.get(error, key) : undefined;
      return typeof name === "string" ? [`${key} ${name}`] : [];
    })
    .join(", ");

/** A store that cannot be reached; `since`: epoch ms. */
export const storeAway = (store: string, since: number, why: string): RigbridgeError =>
  new RigbridgeError(
    "service.store-away",
    `The store ${store} cannot be reached since ${new Date(since).toISOString().slice(11, 19)} (UTC): ${why}.`,
  );

/** The same after a change was sent and not answered: the server may have stored it. */
export class MayBeStored extends RigbridgeError {
  constructor({ code, message }: RigbridgeError) {
    super(code, `${message} It is not known whether the last change was stored.`);
  }
}

/** Nothing was stored, and this process ends its work. */
export const notActive = (store: string): RigbridgeError =>
  new RigbridgeError("service.no.active", `Another service has taken over the store ${store}`);

/** Why a call failed that the server answered. Without the cause, whose message and details quote values. */
export const refusal = (store: string, error: unknown, kind: "read" | "write"): RigbridgeError => {
  if (error instanceof RigbridgeError) return error;
  const code = codeOf(error);
  const [problem, verb]: [ProblemCode, string] =
    kind === "read" ? ["store.refused", "read"] : ["store.full", "written"];
  const passes = passing.get(code);
  if (passes !== undefined)
    return new RigbridgeError("service.store-away", `The store ${store} cannot be ${verb} now: ${passes}.`);
  const why = refusals.get(code);
  if (why !== undefined) return new RigbridgeError(problem, `The store ${store} cannot be ${verb}: ${why}`);
  const where = place(error);
  return new RigbridgeError(
    "internal",
    `The store ${store} refused a ${kind} (SQLSTATE ${code}${where === "" ? "" : `, ${where}`})`,
  );
};
