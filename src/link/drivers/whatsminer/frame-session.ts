import { RigbridgeError } from "../../../contract/problems.ts";
import { isRecord } from "../../../contract/record.ts";
import type { Credentials } from "../../link.ts";
import { Notes, printable, TolerantReader } from "../../tolerant-reader.ts";
import type { FrameTransport } from "../../transports/frames.ts";
import { garbled } from "../../transports/limits.ts";
import { encrypted, frameSeal } from "./crypto.ts";
import { noPassword, readOnly, refused, wrongLogin } from "./dialect.ts";

/** Codes of API v3; 0 is success. */
const codes = { unknownCommand: -2, noPermission: -4 } as const;

/** The account for writes unless another is configured. */
const mainAccount = "super";

/** API v3: reads need no login; each write is signed with the password, the device's salt and the time. */
export class FrameSession {
  readonly #frames: FrameTransport;
  readonly #account: string;
  readonly #password: string | undefined;

  constructor(frames: FrameTransport, { username, password }: Credentials) {
    this.#frames = frames;
    this.#account = username || mainAccount;
    this.#password = password;
  }

  get at(): string {
    return this.#frames.at;
  }

  /** `msg` of the answer; undefined when the device does not know the command. Throws `rig.refused`. */
  async ask(cmd: string, param: string | undefined, notes: Notes, signal: AbortSignal): Promise<unknown> {
    const answer = await this.#send(param === undefined ? { cmd } : { cmd, param }, notes, signal);
    if (answer.code === codes.unknownCommand) return undefined;
    if (answer.code !== 0) throw refused(this.at, cmd, answer.words);
    return answer.msg;
  }

  /** Sends a write, once; `secret` parameters are encrypted. Resolves with the device's words. */
  async write(cmd: string, param: unknown, signal: AbortSignal, secret?: "secret"): Promise<string> {
    if (this.#password === undefined) throw noPassword(this.at);
    const { salt, when } = await this.#salt(signal);
    // By the device's own clock, which may be wrong.
    const ts = when ?? Math.floor(Date.now() / 1000);
    const { token, key } = frameSeal(cmd, this.#password, salt, ts);
    const parameter = secret === undefined ? param : encrypted(JSON.stringify(param), key);
    const shown = parameter === undefined ? {} : { param: parameter };
    const request = { cmd, ...shown, ts, token, account: this.#account };
    const answer = await this.#send(request, new Notes(), signal);
    if (answer.code === 0) return answer.words;
    throw await this.#refusal(cmd, answer, signal);
  }

  async #salt(signal: AbortSignal): Promise<{ salt: string; when: number | null }> {
    const { code, msg, when } = await this.#send({ cmd: "get.device.info", param: "salt" }, new Notes(), signal);
    const salt = new TolerantReader(msg, new Notes(), "").text("salt");
    if (code !== 0 || salt === null) throw garbled(this.at, 'answered "get.device.info" without a salt');
    return { salt, when };
  }

  async #send(request: Readonly<Record<string, unknown>>, notes: Notes, signal: AbortSignal): Promise<Answer> {
    const { value, notes: repairs } = await this.#frames.ask(request, signal);
    notes.addAll(repairs);
    const reply = new TolerantReader(value, new Notes(), "");
    const code = reply.integer("code", { min: -1e6 });
    if (!isRecord(value) || code === null) throw garbled(this.at, `answered "${request.cmd}" without a code`);
    const { msg } = value;
    const words = typeof msg === "string" ? printable(msg.slice(0, 1_000)).slice(0, 200) : "";
    return { code, msg, words: words || (code === 0 ? "ok" : `code ${code}`), when: reply.integer("when") };
  }

  /**
   * "No permission" is the answer where writing is switched off, where the maker's password is still set, and to
   * accounts without permission; the device reports whether writing is switched on.
   */
  async #refusal(cmd: string, { code, words }: Answer, signal: AbortSignal): Promise<RigbridgeError> {
    if (code === codes.noPermission) {
      const isMakers = this.#password === mainAccount;
      return isMakers || !(await this.#writable(signal))
        ? readOnly(this.at, cmd, words)
        : wrongLogin(this.at, cmd, words);
    }
    if (/token|passw|account|auth|sign/i.test(words)) return wrongLogin(this.at, cmd, words);
    return refused(this.at, cmd, words);
  }

  async #writable(signal: AbortSignal): Promise<boolean> {
    try {
      const msg = await this.ask("get.device.info", "system", new Notes(), signal);
      return new TolerantReader(msg, new Notes(), "").object("system").boolean("apiswitch") === true;
    } catch (error) {
      if (error instanceof RigbridgeError) return false;
      throw error;
    }
  }
}

interface Answer {
  readonly code: number;
  readonly msg: unknown;
  readonly words: string;
  /** Epoch s, by the device's clock. */
  readonly when: number | null;
}
