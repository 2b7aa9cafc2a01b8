import { z } from "zod";
import { refusalOf } from "../antminer/login.ts";
import { type CgiRig, isSilent, restartProgram, settled } from "../antminer/state.ts";
import { blink, configuredPools, html, json, Place, places, reboot, setPools, text } from "../antminer/web.ts";
import type { HttpRequest } from "../http-message.ts";
import { jsonOf } from "../json.ts";
import type { Reply } from "../reply.ts";
import { type Conversation, logWrite, type RigBody } from "../rig.ts";
import { pools, stats, summary } from "./reports.ts";

export interface ElphapexOptions {
  /** Password of the user root. */
  readonly password: string;
  readonly asleep: boolean;
}

/** Elphapex's firmware of a DG1+: Bitmain's pages with other names in the configuration, behind a digest login. */
export function elphapex(body: RigBody, { password, asleep }: ElphapexOptions): Conversation {
  const config = { mode: asleep ? 1 : 0, fan: null };
  const rig: CgiRig = { body, config, blinks: false, silentUntil: 0 };
  return { http: (request) => answer(settled(rig), password, request) };
}

function answer(rig: CgiRig, password: string, request: HttpRequest): Reply {
  const login = { realm: "Daoge", username: "root", password, nonceSeconds: 600 };
  const refused = refusalOf(login, request, rig.body.model.at);
  if (refused !== null) return refused;
  const { method, path } = request;
  if (path === "/") return html(200, "<html><head><title>DG1+</title></head><body></body></html>");
  const name = /^\/cgi-bin\/([a-z_]+)\.cgi$/.exec(path)?.[1] ?? "";
  const report = reports.get(name);
  if (report !== undefined)
    return isSilent(rig) ? text("Socket connect failed: Connection refused\n") : json(report(rig));
  const page = pages.get(name);
  if (page === undefined) return html(404, "<h1>404 - Not Found</h1>");
  if (method === "POST" || name === "reboot")
    logWrite(rig.body.requests, `${method} ${path} ${request.body}`.trimEnd());
  return page(rig, request);
}

const reports: ReadonlyMap<string, (rig: CgiRig) => unknown> = new Map([
  ["summary", summary],
  ["stats", stats],
  ["pools", pools],
]);

const pages: ReadonlyMap<string, (rig: CgiRig, request: HttpRequest) => Reply> = new Map([
  ["get_system_info", (rig: CgiRig) => json(systemInfo(rig))],
  ["get_miner_conf", (rig: CgiRig) => json(configuration(rig))],
  ["get_blink_status", ({ blinks }: CgiRig) => json({ blink: blinks })],
  ["blink", blink],
  ["set_miner_conf", configure],
  ["reboot", reboot],
]);

const systemInfo = ({ body }: CgiRig): Record<string, unknown> => ({
  minertype: "DG1+",
  Algorithm: "Scrypt",
  nettype: "DHCP",
  netdevice: "eth0",
  macaddr: body.mac,
  hostname: body.name,
  ipaddress: "127.0.0.1",
  netmask: "255.0.0.0",
  gateway: "",
  dnsservers: "",
  system_mode: "GNU/Linux",
  system_kernel_version: "4.4.194",
  system_filesystem_version: "DG1+_SW_V1.0.2",
  firmware_type: "Release",
});

function configuration(rig: CgiRig): Record<string, unknown> {
  const listed = configuredPools(rig);
  while (listed.length < places) listed.push({ url: "", user: "", pass: "" });
  return {
    pools: listed,
    algo: "ltc",
    "fc-fan-ctrl": rig.config.fan !== null,
    "fc-fan-pwm": String(rig.config.fan ?? 80),
    "fc-freq": String(Math.round(rig.body.model.frequency / 1e6)),
    "fc-freq-level": "100",
    "fc-voltage": "1470",
    "fc-work-mode": rig.config.mode === 1 ? -1000 : 0,
  };
}

const Document = z.object({
  "fc-fan-ctrl": z.boolean(),
  "fc-fan-pwm": z.string().regex(/^\d{1,3}$/),
  "fc-freq-level": z.literal("100"),
  "miner-mode": z.literal([0, -1000]),
  pools: z.array(Place).length(places),
});

function configure(rig: CgiRig, request: HttpRequest): Reply {
  const document = Document.safeParse(jsonOf(request.body));
  if (rig.body.denies() || !document.success) return json({ stats: "error", code: "M001", msg: "FAIL!" });
  const { pools: wanted, "miner-mode": mode, "fc-fan-ctrl": manual, "fc-fan-pwm": pwm } = document.data;
  rig.config = { fan: manual ? Number(pwm) : null, mode: mode === 0 ? 0 : 1 };
  setPools(rig, wanted);
  restartProgram(rig);
  return json({ stats: "success", code: "M000", msg: "OK!" });
}
