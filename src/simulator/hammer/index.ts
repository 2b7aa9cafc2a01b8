import { refusalOf } from "../antminer/login.ts";
import { type CgiRig, settled } from "../antminer/state.ts";
import { html, json, reboot } from "../antminer/web.ts";
import { dialects } from "../cgminer/dialects.ts";
import { cgminer } from "../cgminer/index.ts";
import type { HttpRequest } from "../http-message.ts";
import type { Reply } from "../reply.ts";
import { type Conversation, logWrite, type RigBody } from "../rig.ts";

const dialect = {
  ...dialects.bmminer,
  version: {
    CGMiner: "2.3.3",
    API: "3.1",
    Miner: "2.0.2.2",
    CompileTime: "2023-05-28 17-20-35 CST",
    Type: "Hammer D10",
  },
  description: "ccminer 2.3.3",
  mhs: true,
} as const;

/** Hammer's firmware of a D10: a read-only RPC in MH/s, and those of its web pages that are documented. */
export function hammer(body: RigBody, password: string): Conversation {
  const rig: CgiRig = { body, config: { mode: 0, fan: null }, blinks: false, silentUntil: 0 };
  const { rpc } = cgminer(body, { dialect, privileged: false });
  return { ...(rpc === undefined ? {} : { rpc }), http: (request) => answer(settled(rig), password, request) };
}

function answer(rig: CgiRig, password: string, request: HttpRequest): Reply {
  const login = { realm: "blackMiner Configuration", username: "root", password, nonceSeconds: 600 };
  const refused = refusalOf(login, request, rig.body.model.at);
  if (refused !== null) return refused;
  const { method, path } = request;
  if (path === "/") return html(200, "<html><head><title>Hammer</title></head><body></body></html>");
  if (path === "/cgi-bin/get_system_info.cgi") return json(systemInfo(rig.body));
  if (path !== "/cgi-bin/reboot.cgi") return html(404, "<h1>404 - Not Found</h1>");
  logWrite(rig.body.requests, `${method} ${path}`);
  return reboot(rig);
}

const systemInfo = (body: RigBody): Record<string, unknown> => ({
  minertype: "Hammer D10",
  nettype: "DHCP",
  netdevice: "eth0",
  macaddr: body.mac,
  hostname: body.name,
  bb_hwv: "2.0.2.2",
  system_kernel_version: "Linux 3.8.13",
  system_filesystem_version: "2022-11-11 13-46-30 CST",
  cgminer_version: "2.3.3",
});
