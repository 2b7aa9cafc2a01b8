import { refusalOf } from "../antminer/login.ts";
import { type CgiRig, isSilent, restartProgram, settled } from "../antminer/state.ts";
import { configuredPools, html, json, places, reboot, setPools, text } from "../antminer/web.ts";
import { dialects } from "../cgminer/dialects.ts";
import { cgminer } from "../cgminer/index.ts";
import type { HttpRequest } from "../http-message.ts";
import { noHead, type Reply } from "../reply.ts";
import { type Conversation, logWrite, type RigBody } from "../rig.ts";

const dialect = {
  ...dialects.bmminer,
  version: { CGMiner: "2.3.3", API: "3.1", Miner: "1.3.0.8", Type: "VolcMiner D1" },
  description: "ccminer 2.3.3",
  mhs: true,
} as const;

/** Settings that it writes back as it reads them. */
const kept = { freq: "1900", coin: "ltc", voltage: "1245", ema: "3" };

/** VolcMiner's firmware of a D1: a read-only RPC in MH/s, and web pages of shell scripts behind a digest login. */
export function volcminer(body: RigBody, password: string): Conversation {
  const rig: CgiRig = { body, config: { mode: 0, fan: null }, blinks: false, silentUntil: 0 };
  const rpc = cgminer(body, { dialect, privileged: false }).rpc ?? (() => null);
  return {
    rpc: (request) =>
      isSilent(settled(rig)) ? { head: noHead, body: "", tail: "", times: 1, close: true } : rpc(request),
    http: (request) => answer(settled(rig), password, request),
  };
}

function answer(rig: CgiRig, password: string, request: HttpRequest): Reply {
  const login = { realm: "blackMiner Configuration", username: "root", password, nonceSeconds: 600 };
  const refused = refusalOf(login, request, rig.body.model.at);
  if (refused !== null) return refused;
  const { method, path } = request;
  if (path === "/") return html(200, "<html><head><title>VolcMiner</title></head><body></body></html>");
  const page = pages.get(/^\/cgi-bin\/(\w+)\.cgi$/.exec(path)?.[1] ?? "");
  if (page === undefined) return html(404, "<h1>404 - Not Found</h1>");
  if (method === "POST") logWrite(rig.body.requests, `${method} ${path} ${request.body}`.trimEnd());
  return page(rig, request);
}

const pages: ReadonlyMap<string, (rig: CgiRig, request: HttpRequest) => Reply> = new Map([
  ["get_system_info", ({ body }: CgiRig) => json(systemInfo(body))],
  ["get_miner_conf", (rig: CgiRig) => json(configuration(rig))],
  ["get_miner_confV1", (rig: CgiRig) => text(configurationV1(rig))],
  ["set_miner_conf", configure],
  ["reboot", (rig: CgiRig, { method }: HttpRequest) => (method === "POST" ? reboot(rig) : html(405, "<h1>405</h1>"))],
]);

const systemInfo = (body: RigBody): Record<string, unknown> => ({
  minertype: "VolcMiner D1",
  nettype: "DHCP",
  netdevice: "eth0",
  macaddr: body.mac,
  hostname: body.name,
  bb_hwv: "1.3.0.8",
  system_kernel_version: "Linux 4.4.0-xilinx",
  system_filesystem_version: "2025-02-18 15-51-04 CST",
  cgminer_version: "2.3.3",
});

function configuration(rig: CgiRig): Record<string, unknown> {
  const listed = configuredPools(rig);
  while (listed.length < places) listed.push({ url: "", user: "", pass: "" });
  return {
    pools: listed,
    "fan-ctrl": false,
    "use-vil": true,
    freq: kept.freq,
    "coin-type": kept.coin,
    "sram-voltage": kept.ema,
  };
}

/** JSON within texts whose quotes are not escaped. */
const configurationV1 = (rig: CgiRig): string =>
  `{"code": 200, "msg": "", "data": "{ "cfgs": "[${JSON.stringify(configuration(rig))}]", "keepower": "0", "debug": "{ "bb_debug_enable": false }", "runmode": "${runModes[rig.config.mode] ?? 0}", "voltage": "${kept.voltage}" }"}`;

/** Of the states of the model: 0 runs, 1 sleeps. */
const runModes: Readonly<Record<number, string>> = { 0: "0", 1: "-1" };

const order = [
  ...[1, 2, 3].flatMap((place) => [`_bb_pool${place}url`, `_bb_pool${place}user`, `_bb_pool${place}pw`]),
  ...["_bb_nobeeper", "_bb_notempoverctrl", "_bb_fan_customize_switch"],
  ...["_bb_fan_customize_value_front", "_bb_fan_customize_value_back", "_bb_freq", "_bb_coin_type", "_bb_runmode"],
  ...["_bb_voltage_customize_value", "_bb_ema", "_bb_debug"],
];

/** Refuses a form in another order, and one that changes what no test sets. */
function configure(rig: CgiRig, request: HttpRequest): Reply {
  const form = new URLSearchParams(request.body);
  const of = (name: string): string => form.get(`_bb_${name}`) ?? "";
  const isComplete = [...form.keys()].join() === order.join();
  const isKept =
    of("freq") === kept.freq && of("coin_type") === kept.coin && of("voltage_customize_value") === kept.voltage;
  if (rig.body.denies() || !isComplete || !isKept || of("ema") !== kept.ema)
    return json({ code: "400", msg: "refused" });
  rig.config = { fan: null, mode: of("runmode") === "-1" ? 1 : 0 };
  setPools(
    rig,
    [1, 2, 3].map((place) => ({
      url: of(`pool${place}url`),
      user: of(`pool${place}user`),
      pass: of(`pool${place}pw`),
    })),
  );
  restartProgram(rig);
  return json({ code: "200", msg: "ok" });
}
