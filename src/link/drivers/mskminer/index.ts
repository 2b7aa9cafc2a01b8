import { RigbridgeError } from "../../../contract/problems.ts";
import { detail } from "../../../messages/detail.ts";
import type { Driver, Login, Rig } from "../../driver.ts";
import { normalMac } from "../../identity.ts";
import type { Link } from "../../link.ts";
import { type Notes, TolerantReader } from "../../tolerant-reader.ts";
import { type HttpCall, type HttpReply, type HttpTransport, jsonOf, refusal } from "../../transports/http.ts";
import { kindOf } from "../cgminer/identity.ts";
import { cgminer } from "../cgminer/index.ts";
import { RpcAndWebRig, type WebInterface, type WebReport } from "../shared/rpc-and-web.ts";

/**
 * MSKMiner's firmware for Antminers: Bitmain's RPC with the power of the boards, and a web interface of its own, of which
 * only the page with the MAC address is documented. Source: recorded answers of an S19; the login, from a published program.
 */
export const mskminer: Driver = {
  id: "mskminer",
  name: "MSKMiner (on Antminer)",
  evidence: { readings: "recorded", controls: "other source" },
  ports: [80, 4028],
  login: { keys: ["username", "password"], adds: "recognised by its MAC address" },
  makersLogin: { username: "admin", password: "root" },
  recognise: ({ version }) => {
    const identity = kindOf(version, null)?.identity;
    return identity?.make === "MSKMiner" ? identity : undefined;
  },
  connect: (link) => connect(link),
};

function connect(link: Link): Rig {
  const { username = "admin", password = "" } = link.credentials;
  return new RpcAndWebRig(link, cgminer.connect(link), new MskminerWeb(link.http, { username, password }));
}

class MskminerWeb implements WebInterface {
  readonly adds = "its MAC address";
  readonly takesCommands = false;
  readonly #http: HttpTransport;
  readonly #login: Login;
  #identity: WebReport["identity"] | undefined;

  constructor(http: HttpTransport, login: Login) {
    this.#http = http;
    this.#login = login;
  }

  forget(): void {
    this.#identity = undefined;
  }

  async read(signal: AbortSignal, notes: Notes): Promise<WebReport> {
    this.#identity ??= { mac: await this.#mac(signal, notes) };
    return { identity: this.#identity, offered: [], pools: null };
  }

  async #mac(signal: AbortSignal, notes: Notes): Promise<string | null> {
    const { username, password } = this.#login;
    const login = await this.#send({ method: "POST", path: "/admin/login", form: { username, password } }, signal);
    const cookie = /^\s*([^=;,\s]+=[^;,\s]*)/.exec(login.headers["set-cookie"] ?? "")?.[1];
    const headers = cookie === undefined ? {} : { cookie };
    const call: HttpCall = { method: "POST", path: "/api/info_v1", headers };
    const { value } = jsonOf(this.#http.at, call, await this.#send(call, signal));
    const network = new TolerantReader(value, notes, "").object("network_info").object("result");
    return normalMac(network.text("macaddr"));
  }

  /** A login may answer with a redirect. */
  async #send(call: HttpCall, signal: AbortSignal): Promise<HttpReply> {
    const reply = await this.#http.call(call, signal);
    if (reply.status === 401 || reply.status === 403)
      throw new RigbridgeError("rig.login", detail("link.wrongLogin", { at: this.#http.at }));
    if (reply.status >= 400) throw refusal(this.#http.at, call, reply);
    return reply;
  }
}
