import { RigbridgeError } from "../contract/problems.ts";

/**
 * The device refused a command because it no longer accepts the session, token or login challenge; it did nothing.
 * Devices end sessions now and then, but another device that took over the address refuses them too. So the command is
 * not repeated, and no new session is opened, before a read has shown which device answers. Code and message are those
 * of the refusal.
 */
export class SessionEnded extends RigbridgeError {
  constructor({ code, message, unquoted, coded }: RigbridgeError) {
    super(code, message, { unquoted, coded });
  }
}
