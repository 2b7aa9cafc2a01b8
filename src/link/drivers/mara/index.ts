import type { Driver, Rig } from "../../driver.ts";
import type { Link } from "../../link.ts";
import { digestTransport } from "../../transports/digest.ts";
import { kindOf } from "../cgminer/identity.ts";
import { cgminer } from "../cgminer/index.ts";
import { RpcAndWebRig } from "../shared/rpc-and-web.ts";
import { MaraWeb } from "./web.ts";

/**
 * MARA's firmware for Antminers: an RPC that reports its work, and an API with a digest login. Source: two programs that
 * others have published; there is no recording. They disagree whether the API's present hash rate is in GH/s or TH/s, so it
 * is that of the RPC. Not offered: its power target, whose bounds it does not report.
 */
export const mara: Driver = {
  id: "mara",
  name: "MARA (on Antminer)",
  evidence: {
    readings: "never tried; built from published programs",
    controls: "never tried; built from published programs",
  },
  ports: [80, 4028],
  login: {
    keys: ["username", "password"],
    adds: "stopped, started, restarted, rebooted and located, and its pools, mode and fan changed",
  },
  makersLogin: { username: "root", password: "root" },
  recognise: ({ version, reports }) => {
    const identity = kindOf(version, reports.stats ?? null)?.identity;
    return identity?.make === "MARA" ? identity : undefined;
  },
  connect: (link) => connect(link),
};

function connect(link: Link): Rig {
  const { username = "root", password = "" } = link.credentials;
  const http = digestTransport(link.http, { username, password });
  return new RpcAndWebRig(link, cgminer.connect(link), new MaraWeb(http, link.monotonicNow));
}
