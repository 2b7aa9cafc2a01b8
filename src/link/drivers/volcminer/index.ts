import type { Driver, Login, Rig } from "../../driver.ts";
import type { Link } from "../../link.ts";
import { digestTransport } from "../../transports/digest.ts";
import { kindOf } from "../cgminer/identity.ts";
import { cgminer } from "../cgminer/index.ts";
import { RpcAndWebRig } from "../shared/rpc-and-web.ts";
import { VolcminerWeb } from "./web.ts";

/**
 * VolcMiner's own firmware: the RPC of an old cgminer, which reports in MH/s and only reads, and a web interface of shell
 * scripts behind a digest login. Source: recorded answers of a D1; the forms, from three published programs that agree.
 * Not offered: its light, whose state no page reports, and its fan, whose unit is not documented.
 */
export const volcminer: Driver = {
  id: "volcminer",
  name: "VolcMiner",
  evidence: { readings: "recorded", controls: "other source" },
  ports: [80, 4028],
  login: { keys: ["username", "password"], adds: "stopped, started and rebooted, and its pools changed" },
  makersLogin: { username: "root", password: "ltc@dog" },
  recognise: ({ version }) => {
    const identity = kindOf(version, null)?.identity;
    return identity?.make === "VolcMiner" ? identity : undefined;
  },
  connect: (link) => connect(link),
};

function connect(link: Link): Rig {
  const { username = "root", password = "" } = link.credentials;
  const login: Login = { username, password };
  return new RpcAndWebRig(
    link,
    cgminer.connect(link),
    new VolcminerWeb(digestTransport(link.http, login), link.monotonicNow),
  );
}
