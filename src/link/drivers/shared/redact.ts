import { RigbridgeError } from "../../../contract/problems.ts";
import { SessionEnded } from "../../session-ended.ts";

/** Shorter texts are no secret, and their letters are everywhere. */
const shortestSecret = 3;

/** A device's text without these secrets, which it may repeat. */
export const redact = (text: string, secrets: readonly unknown[]): string =>
  secrets
    .filter((secret) => typeof secret === "string" && secret.length >= shortestSecret)
    .reduce<string>((shown, secret) => shown.replaceAll(String(secret), "***"), text);

/** The same error without these secrets; anything but a RigbridgeError unchanged. */
export function redacted(error: unknown, secrets: readonly unknown[]): unknown {
  if (!(error instanceof RigbridgeError)) return error;
  const { code, message, unquoted } = error;
  const same = new RigbridgeError(code, redact(message, secrets), { unquoted: redact(unquoted, secrets) });
  return error instanceof SessionEnded ? new SessionEnded(same) : same;
}
