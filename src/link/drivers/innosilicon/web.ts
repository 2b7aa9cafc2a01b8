import { RigbridgeError } from "../../../contract/problems.ts";
import { type OfferedControl, trigger } from "../../controls.ts";
import { normalMac } from "../../identity.ts";
import type { Link } from "../../link.ts";
import { Notes, TolerantReader } from "../../tolerant-reader.ts";
import { type HttpCall, type HttpReply, jsonOf } from "../../transports/http.ts";
import { refusedWith } from "../../transports/limits.ts";
import { BearerApi, isDenied } from "../shared/bearer-api.ts";
import { pageOrNull, type WebInterface, type WebReport } from "../shared/rpc-and-web.ts";

const callOf = (name: string): HttpCall => ({ method: "POST", path: `/api/${name}`, body: {} });

/** An expired token is refused in an answer of status 200. */
const needsLogin = (reply: HttpReply): boolean => isDenied(reply) || /"token"\s*:\s*"expired"/.test(reply.body);

export class InnosiliconWeb implements WebInterface {
  readonly takesCommands = true;
  readonly adds = "its MAC address, power and errors, and allow restarting and rebooting it";
  readonly #api: BearerApi;

  constructor(link: Link) {
    const { username = "admin", password } = link.credentials;
    const login =
      password === undefined
        ? null
        : {
            call: { method: "POST", path: "/api/auth", form: { username, password } } as const,
            password,
            tokenIn: (answer: TolerantReader) => answer.text("jwt", 4_000),
            wordsIn: (answer: TolerantReader) => answer.text("msg", 200) ?? answer.text("message", 200),
          };
    this.#api = new BearerApi(link.http, login, link, needsLogin);
  }

  /** Nothing is kept between reads but the login. */
  forget(): void {}

  async read(signal: AbortSignal, notes: Notes): Promise<WebReport> {
    const all = new TolerantReader(await this.#get("getAll", signal), notes, "").object("all");
    const failure = await pageOrNull("errors", this.#get("getErrorDetail", signal), notes);
    const code = new TolerantReader(failure ?? undefined, notes, "errors").integer("code") ?? 0;
    const power = all.number("power", { absent: 0 });
    const percent = all.number("fansSpeed", { max: 100 });
    return {
      identity: { mac: normalMac(all.text("mac")) },
      offered: this.#offers(),
      readings: {
        ...(power === null ? {} : { power, powerSource: "reported" }),
        // One figure for all of its fans.
        ...(percent === null ? {} : { fans: [{ rpm: null, percent }] }),
        ...(code === 0 ? {} : { errors: [{ code: String(code), text: `It reports the error ${code}` }] }),
      },
      pools: null,
    };
  }

  #offers(): OfferedControl[] {
    const run = async (name: string, signal: AbortSignal): Promise<string> => {
      const call = callOf(name);
      const reply = await this.#api.command(call, signal);
      return this.#accepted(name, jsonOf(this.#api.at, call, reply).value).text("msg") ?? `accepted "${name}"`;
    };
    const starting = { lasting: false, restartsMining: true, seconds: 180 };
    return [
      { control: trigger("restart", starting), set: (_, signal) => run("restartCgMiner", signal) },
      { control: trigger("reboot", { ...starting, seconds: 240 }), set: (_, signal) => run("reboot", signal) },
    ];
  }

  async #get(name: string, signal: AbortSignal): Promise<unknown> {
    const reply = await this.#api.read(callOf(name), signal);
    const { locked } = this.#api;
    if (locked !== null) throw new RigbridgeError("rig.login", locked.text);
    this.#accepted(name, reply?.value);
    return reply?.value;
  }

  /** Throws `rig.refused` with the rig's words unless the answer says that it has succeeded. */
  #accepted(name: string, answer: unknown): TolerantReader {
    const reply = new TolerantReader(answer, new Notes(), "");
    if (reply.boolean("success") === true) return reply;
    const words = reply.text("msg") ?? reply.text("message") ?? "without a reason";
    throw refusedWith("rig.refused", `${this.#api.at} refused "${name}"`, words);
  }
}
