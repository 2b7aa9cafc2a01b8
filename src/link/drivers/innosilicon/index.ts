import type { Driver, Rig } from "../../driver.ts";
import type { Link } from "../../link.ts";
import { kindOf } from "../cgminer/identity.ts";
import { cgminer } from "../cgminer/index.ts";
import { RpcAndWebRig } from "../shared/rpc-and-web.ts";
import { InnosiliconWeb } from "./web.ts";

/**
 * Innosilicon's firmware: cgminer's RPC, and an API whose login is exchanged for a token. Source: a program that others have
 * published; there is no recording. Not offered: its power off, after which nothing starts it over the network, and its
 * pools, which are written as a whole while no source says whether it shows their passwords.
 */
export const innosilicon: Driver = {
  id: "innosilicon",
  name: "Innosilicon",
  evidence: {
    readings: "never tried; built from a published program",
    controls: "never tried; built from a published program",
  },
  ports: [80, 4028],
  login: { keys: ["username", "password"], adds: "restarted and rebooted" },
  makersLogin: { username: "admin", password: "admin" },
  recognise: ({ version }) => {
    const identity = kindOf(version, null)?.identity;
    return identity?.make === "Innosilicon" ? identity : undefined;
  },
  connect: (link) => connect(link),
};

const connect = (link: Link): Rig => new RpcAndWebRig(link, cgminer.connect(link), new InnosiliconWeb(link));
