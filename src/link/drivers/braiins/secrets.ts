import { RigbridgeError } from "../../../contract/problems.ts";
import { reworded } from "../../session-ended.ts";

/** A rig may say again what it was told; a very short password is no secret, and its letters are everywhere. */
export const withoutSecrets = (text: string, secrets: readonly unknown[]): string =>
  secrets
    .filter((secret) => typeof secret === "string")
    .reduce((shown, secret) => (secret.length < 3 ? shown : shown.replaceAll(secret, "***")), text);

/** The same error, said without these. */
export const discreet = (error: unknown, secrets: readonly unknown[]): unknown =>
  error instanceof RigbridgeError ? reworded(error, (text) => withoutSecrets(text, secrets)) : error;
