import { RigbridgeError } from "../../../contract/problems.ts";
import { isRecord } from "../../../contract/record.ts";
import { SessionEnded } from "../../session-ended.ts";
import { Notes, TolerantReader } from "../../tolerant-reader.ts";
import { parseReply } from "../../transports/json.ts";
import { garbled } from "../../transports/limits.ts";
import type { RpcTransport } from "../../transports/rpc.ts";
import { isRefusal, type Status, statusOf } from "../shared/cgminer-replies.ts";
import { decrypted, encrypted, type RpcSeal, rpcSeal, type TokenSeed } from "./crypto.ts";
import { noPassword, readOnly, refused, wrongLogin } from "./dialect.ts";

/** Tokens live 30 minutes, and a device keeps no more than 16 of them. */
const tokenLifeMs = 25 * 60_000;

/** Codes of API v2. */
const codes = { invalidCommand: 14, invalidJson: 23, denied: 45, wrongToken: 135, tooMany: 136 } as const;

/** API v1 and v2: reads need no login; writes are signed and encrypted with a token that is kept while it is valid. */
export class RpcSession {
  readonly #rpc: RpcTransport;
  readonly #password: string | undefined;
  #seal: RpcSeal | null = null;
  #sealedAt = 0;

  constructor(rpc: RpcTransport, password: string | undefined) {
    this.#rpc = rpc;
    this.#password = password;
  }

  get at(): string {
    return this.#rpc.at;
  }

  /** The whole answer; undefined when the device does not know the command. Throws `rig.refused` with its words. */
  async ask(cmd: string, notes: Notes, signal: AbortSignal): Promise<unknown> {
    const { value, notes: repairs } = await this.#rpc.ask({ cmd }, signal);
    notes.addAll(repairs);
    const status = statusOf(value);
    if (status?.code === codes.invalidCommand) return undefined;
    if (status !== null && isRefusal(status)) throw refused(this.at, cmd, status.words);
    return value;
  }

  /** Sends a write, once. Throws `SessionEnded` when the kept token is no longer accepted. */
  async write(
    cmd: string,
    parameters: Readonly<Record<string, string | number>>,
    signal: AbortSignal,
  ): Promise<string> {
    const fresh = this.#seal === null || performance.now() - this.#sealedAt >= tokenLifeMs;
    const seal = fresh ? await this.#newSeal(cmd, signal) : this.#seal;
    if (seal === null) throw noPassword(this.at);
    const status = await this.#exchange(cmd, parameters, seal, signal);
    if (!isRefusal(status)) return status.words;
    const refusal = this.#refusal(cmd, status);
    if (!isTokenTrouble(status)) throw refusal;
    this.#seal = null;
    throw fresh ? refusal : new SessionEnded(refusal);
  }

  async #exchange(
    cmd: string,
    parameters: Readonly<Record<string, string | number>>,
    { sign, key }: RpcSeal,
    signal: AbortSignal,
  ): Promise<Status> {
    const data = encrypted(JSON.stringify({ cmd, ...parameters, token: sign }), key);
    const { value } = await this.#rpc.ask({ enc: 1, data }, signal);
    const status = statusOf(opened(value, key));
    if (status === null) throw garbled(this.at, `the answer to "${cmd}" could not be read`);
    return status;
  }

  async #newSeal(cmd: string, signal: AbortSignal): Promise<RpcSeal> {
    if (this.#password === undefined) throw noPassword(this.at);
    const { value } = await this.#rpc.ask({ cmd: "get_token" }, signal);
    const seed = seedOf(value);
    if (seed === null) {
      const status = statusOf(value);
      if (status === null) throw garbled(this.at, 'answered "get_token" without a token');
      throw this.#refusal(cmd, status);
    }
    this.#seal = rpcSeal(this.#password, seed);
    this.#sealedAt = performance.now();
    return this.#seal;
  }

  #refusal(cmd: string, status: Status): RigbridgeError {
    const { code, words } = status;
    if (code === codes.denied || /access write cmd|permission/i.test(words)) return readOnly(this.at, cmd, words);
    if (code === codes.tooMany || /over max/i.test(words)) {
      const advice = "other clients hold all of its tokens; they expire after half an hour";
      return new RigbridgeError("rig.busy", `${this.at} refused "${cmd}": ${words}; ${advice}`);
    }
    if (isTokenTrouble(status)) return wrongLogin(this.at, cmd, words);
    return refused(this.at, cmd, words);
  }
}

/** It rejects the token, or could not decrypt the command. */
const isTokenTrouble = ({ code, words }: Status): boolean =>
  code === codes.wrongToken || code === codes.invalidJson || /enc json load|token err/i.test(words);

function seedOf(value: unknown): TokenSeed | null {
  const given = isRecord(value) && isRecord(value.Msg) ? value.Msg : {};
  const reply = new TolerantReader(given, new Notes(), "token");
  const [time, salt, newsalt] = [reply.text("time"), reply.text("salt"), reply.text("newsalt")];
  return time === null || salt === null || newsalt === null ? null : { time, salt, newsalt };
}

/** The content of an encrypted answer; refusals mostly come unencrypted. */
function opened(value: unknown, key: Buffer): unknown {
  if (!isRecord(value) || typeof value.enc !== "string") return value;
  const text = decrypted(value.enc, key);
  const parsed = text === null ? null : parseReply(text);
  return parsed !== null && "value" in parsed ? parsed.value : null;
}
