import type { Driver, Rig } from "../../driver.ts";
import type { Link } from "../../link.ts";
import type { Notes } from "../../tolerant-reader.ts";
import { digestTransport } from "../../transports/digest.ts";
import type { HttpTransport } from "../../transports/http.ts";
import { kindOf } from "../cgminer/identity.ts";
import { cgminer } from "../cgminer/index.ts";
import { RpcAndWebRig, type WebInterface, type WebReport } from "../shared/rpc-and-web.ts";
import { rebootOf, systemOf } from "../volcminer/web.ts";

/**
 * Hammer's own firmware: the RPC of an old cgminer, which reports in MH/s and only reads, and a web interface with digest
 * login. Source: recorded answers of a D10; the reboot, from a published program. That program writes its configuration
 * as an Antminer's, which no recording confirms and which would delete it if wrong, so nothing of that is offered.
 */
export const hammer: Driver = {
  id: "hammer",
  name: "Hammer",
  evidence: { readings: "recorded", controls: "other source" },
  ports: [80, 4028],
  login: { keys: ["username", "password"], adds: "rebooted" },
  makersLogin: { username: "root", password: "root" },
  recognise: ({ version }) => {
    const identity = kindOf(version, null)?.identity;
    return identity?.make === "Hammer" ? identity : undefined;
  },
  connect: (link) => connect(link),
};

function connect(link: Link): Rig {
  const { username = "root", password = "" } = link.credentials;
  const http = digestTransport(link.http, { username, password });
  return new RpcAndWebRig(link, cgminer.connect(link), new HammerWeb(http));
}

class HammerWeb implements WebInterface {
  readonly takesCommands = true;
  readonly adds = "its MAC address and host name, and allow rebooting it";
  readonly #http: HttpTransport;
  #identity: WebReport["identity"] | undefined;

  constructor(http: HttpTransport) {
    this.#http = http;
  }

  forget(): void {
    this.#identity = undefined;
  }

  async read(signal: AbortSignal, notes: Notes): Promise<WebReport> {
    // The build of its mining program is newer than that of the system around it.
    this.#identity ??= { ...(await systemOf(this.#http, signal, notes)), firmware: null };
    return { identity: this.#identity, offered: [rebootOf(this.#http, "GET")], pools: null };
  }
}
