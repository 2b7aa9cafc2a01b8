import { RigbridgeError } from "../contract/problems.ts";

/**
 * A command met a session, token or login challenge that the device no longer takes, so it did nothing. A device ends
 * sessions now and then; another device that has its address by now refuses them too. So nothing is repeated and no
 * new session is opened for it until it is known which device answers. Code and words are those of the refusal.
 */
export class SessionEnded extends RigbridgeError {
  constructor({ code, message, unquoted }: RigbridgeError) {
    super(code, message, { unquoted });
  }
}
