import { RigbridgeError } from "../../../contract/problems.ts";
import { isRecord } from "../../../contract/record.ts";
import { detail } from "../../../messages/detail.ts";
import type { Locked } from "../../driver.ts";
import type { Link } from "../../link.ts";
import { printable } from "../../tolerant-reader.ts";
import { type HttpTransport, refusal } from "../../transports/http.ts";
import { parseStrict } from "../../transports/json.ts";
import { refusedWith } from "../../transports/limits.ts";
import type { DeviceReply } from "../../transports/rpc.ts";
import { redact } from "../shared/redact.ts";

export const apiPort = 4028;

/** ePIC's HTTP API at port 4028: reads are open, each command carries the password. Source: ePIC's API document (v3). */
export class EpicApi {
  readonly #http: HttpTransport;
  readonly #password: string | undefined;

  constructor(link: Link) {
    this.#http = link.httpOn(apiPort);
    this.#password = link.credentials.password;
  }

  get at(): string {
    return this.#http.at;
  }

  /** Why nothing can be changed; a wrong password shows only with a command. */
  get locked(): Locked | null {
    if (this.#password !== undefined) return null;
    return { why: "login missing", text: "to control this rig, configure its password" };
  }

  get(page: string, signal: AbortSignal): Promise<DeviceReply> {
    return this.#http.getJson(`/${page}`, signal);
  }

  /** Resolves when the rig has accepted the command. `secrets` are kept out of the error of a refusal. */
  async post(path: string, param: unknown, signal: AbortSignal, secrets: readonly string[] = []): Promise<void> {
    const password = this.#password;
    if (password === undefined) throw new RigbridgeError("rig.login", detail("link.noPassword", { at: this.at }));
    const call = { method: "POST", path: `/${path}`, body: { param, password } } as const;
    const reply = await this.#http.call(call, signal);
    const parsed = parseStrict(reply.body);
    const answer = "value" in parsed && isRecord(parsed.value) ? parsed.value : null;
    if (answer?.result === true && reply.status < 300) return;
    const words = typeof answer?.error === "string" ? printable(answer.error.slice(0, 200)) : "";
    if (reply.status === 401 || reply.status === 403 || /password/i.test(words))
      throw new RigbridgeError("rig.login", `${this.at} rejects this password`);
    if (reply.status >= 300)
      throw refusal(this.at, call, { ...reply, body: redact(reply.body, [password, ...secrets]) });
    const said = redact(words, [password, ...secrets]) || "without a reason";
    throw refusedWith("rig.refused", `${this.at} refused "${path}"`, said);
  }

  close(): void {
    this.#http.close();
  }
}
