import { z } from "zod";
import { cgminer } from "../cgminer/index.ts";
import { type HttpRequest, httpReply } from "../http-message.ts";
import { jsonOf } from "../json.ts";
import type { Pool } from "../model.ts";
import { bytesOf, type Reply } from "../reply.ts";
import { logWrite } from "../rig.ts";
import { refusalOf } from "./login.ts";
import { oldStats, pools, stats, summary, systemInfo } from "./reports.ts";
import { type AntminerRig, type CgiRig, isSilent, restartProgram } from "./state.ts";

/** The CGI pages: all need the login, and a reply ends the connection. */
export function answerWeb(rig: AntminerRig, request: HttpRequest): Reply {
  const { body, options } = rig;
  const { password, nonceSeconds } = options;
  const login = { realm: "antMiner Configuration", username: "root", password, nonceSeconds };
  const refused = refusalOf(login, request, body.model.at);
  if (refused !== null) return refused;
  const { method, path } = request;
  const name = /^\/cgi-bin\/([a-z_]+)\.cgi$/.exec(path)?.[1];
  if (path === "/") return html(200, "<html><head><title>Antminer</title></head><body></body></html>");
  if (name === undefined) return html(404, "<h1>404 - Not Found</h1>");
  const page = (rig.kind.old ? oldPages : newPages).get(name);
  if (page === undefined) return html(404, "<h1>404 - Not Found</h1>");
  if (method === "POST" || name === "reboot") logWrite(body.requests, `${method} ${path} ${request.body}`.trimEnd());
  if (page.program && isSilent(rig)) return text("Socket connect failed: Connection refused\n");
  return page.answer(rig, request);
}

interface Page {
  /** Needs the mining program, which may be restarting. */
  readonly program: boolean;
  readonly answer: (rig: AntminerRig, request: HttpRequest) => Reply;
}

const report = (of: (rig: AntminerRig) => unknown): Page => ({ program: true, answer: (rig) => json(of(rig)) });
const plain = (answer: Page["answer"]): Page => ({ program: false, answer });

const common: readonly (readonly [string, Page])[] = [
  ["get_system_info", plain((rig) => json(systemInfo(rig)))],
  ["get_miner_conf", plain((rig) => json(configuration(rig)))],
  ["reboot", plain(reboot)],
];

const newPages: ReadonlyMap<string, Page> = new Map([
  ...common,
  ["summary", report(summary)],
  ["stats", report(stats)],
  ["pools", report(pools)],
  ["get_blink_status", plain(({ blinks }) => json({ blink: blinks }))],
  ["blink", plain(blink)],
  ["set_miner_conf", plain(configure)],
]);

const oldPages: ReadonlyMap<string, Page> = new Map([
  ...common,
  [
    "miner_stats",
    { program: true, answer: (rig: AntminerRig) => text(rig.kind.old === null ? "" : oldStats(rig, rig.kind.old)) },
  ],
  ["miner_summary", { program: true, answer: (rig: AntminerRig) => text(rpcText(rig, "summary")) }],
  ["miner_pools", { program: true, answer: (rig: AntminerRig) => text(rpcText(rig, "pools")) }],
  ["blink", plain(oldBlink)],
  ["set_miner_conf", plain(configureByForm)],
]);

/** The answer of the RPC. */
function rpcText({ body }: AntminerRig, command: string): string {
  const reply = cgminer(body, { dialect: "bmminer", privileged: false }).rpc?.(JSON.stringify({ command }));
  return reply ? String(bytesOf(reply)).replace("\0", "") : "";
}

export const places = 3;

/** The names for reading differ from those for writing. Older firmware omits unset values. */
function configuration({ body: { model }, config, kind }: AntminerRig): Record<string, unknown> {
  const listed = model.pools.map(({ url, user, password }) => ({ url, user, pass: password }));
  while (listed.length < places) listed.push({ url: "", user: "", pass: "" });
  const api = { "api-listen": true, "api-network": true, "api-groups": "A:stats:pools:devs:summary:version" };
  const shared = { pools: listed, ...api, "api-allow": "A:0/0,W:*" };
  const frequency = String(Math.round(model.frequency / 1e6));
  if (kind.old) {
    const fan = config.fan === null ? {} : { "bitmain-fan-ctrl": true, "bitmain-fan-pwm": String(config.fan) };
    return { ...shared, ...fan, "bitmain-use-vil": true, "bitmain-freq": frequency, "bitmain-voltage": "0706" };
  }
  return {
    ...shared,
    "bitmain-fan-ctrl": config.fan !== null,
    "bitmain-fan-pwm": String(config.fan ?? 100),
    "bitmain-use-vil": true,
    "bitmain-freq": frequency,
    "bitmain-voltage": "1280",
    "bitmain-ccdelay": "0",
    "bitmain-pwth": "0",
    "bitmain-work-mode": String(config.mode),
    "bitmain-freq-level": "100",
  };
}

export const Place = z.object({ url: z.string(), user: z.string(), pass: z.string() });

const Document = z.object({
  "bitmain-fan-ctrl": z.boolean(),
  "bitmain-fan-pwm": z.string().regex(/^\d{1,3}$/),
  "freq-level": z.string(),
  "miner-mode": z.union([z.enum(["0", "1", "3"]), z.literal([0, 1, 3])]),
  pools: z.array(Place).max(places),
});

function configure(rig: AntminerRig, request: HttpRequest): Reply {
  const document = Document.safeParse(jsonOf(request.body));
  if (rig.body.denies() || !document.success) return json({ stats: "error", code: "M001", msg: "Illegal request!" });
  const { pools: wanted, "miner-mode": mode, "bitmain-fan-ctrl": manual, "bitmain-fan-pwm": pwm } = document.data;
  rig.config = {
    fan: manual ? Number(pwm) : null,
    mode: rig.options.modeAsText && typeof mode === "number" ? rig.config.mode : Number(mode),
  };
  // A slot that is not sent keeps its pool.
  setPools(rig, [...wanted, ...configuredPools(rig).slice(wanted.length)]);
  restartProgram(rig);
  return json({ stats: "success", code: "M000", msg: "OK!" });
}

export const configuredPools = ({ body }: CgiRig): z.infer<typeof Place>[] =>
  body.model.pools.map(({ url, user, password }) => ({ url, user, pass: password }));

export function setPools({ body: { model } }: CgiRig, places: readonly z.infer<typeof Place>[]): void {
  const old = [...model.pools];
  const difficulty = old[0]?.difficulty ?? 1024;
  const fresh = { difficulty, enabled: true, alive: true, quota: 1, hashes: 0, lastShareAt: null };
  const next = places
    .filter(({ url }) => url !== "")
    .map(({ url, user, pass }, priority): Pool => {
      const at = old.findIndex((pool) => pool.url === url && pool.user === user);
      const [kept] = at === -1 ? [] : old.splice(at, 1);
      return Object.assign(kept ?? { ...fresh, url, user, password: pass, priority }, { password: pass, priority });
    });
  model.setPools(next);
}

const formOrder = [
  ...[1, 2, 3].flatMap((place) => [`_ant_pool${place}url`, `_ant_pool${place}user`, `_ant_pool${place}pw`]),
  "_ant_nobeeper",
  "_ant_notempoverctrl",
  "_ant_fan_customize_switch",
  "_ant_fan_customize_value",
  "_ant_freq",
  "_ant_voltage",
  "_ant_work_mode",
];

/** The script takes its fields by order, not by name, and rewrites the whole configuration. */
function configureByForm(rig: AntminerRig, request: HttpRequest): Reply {
  // During a change it ignores another one and answers with an empty body.
  if (isSilent(rig)) return text("");
  if (rig.body.denies()) return html(403, "<h1>403 - Forbidden</h1>");
  const fields = request.body.split("&").map((field, index) => decoded(field.replace(`${formOrder[index]}=`, "")));
  const [url1 = "", user1 = "", pass1 = "", url2 = "", user2 = "", pass2 = "", url3 = "", user3 = "", pass3 = ""] =
    fields;
  const [manual, fan = "100"] = fields.slice(11);
  rig.config = { mode: 0, fan: manual === "true" ? Number(fan) : null };
  setPools(rig, [
    { url: url1, user: user1, pass: pass1 },
    { url: url2, user: user2, pass: pass2 },
    { url: url3, user: user3, pass: pass3 },
  ]);
  restartProgram(rig);
  return text("ok\n");
}

/** Decodes only the characters that the script decodes. */
const decoded = (text: string): string =>
  text
    .replaceAll("+", " ")
    .replace(/%(2[3-6BCF]|3[A-F]|40|5[BDE]|7C)/g, (_, code) => String.fromCharCode(Number.parseInt(code, 16)));

export function blink(rig: CgiRig, request: HttpRequest): Reply {
  const document = z.object({ blink: z.union([z.boolean(), z.stringbool()]) }).safeParse(jsonOf(request.body));
  if (rig.body.denies() || !document.success) return json({ stats: "error", code: "B001", msg: "Illegal request!" });
  rig.blinks = document.data.blink;
  return json({ stats: "success", code: rig.blinks ? "B000" : "B100", msg: "OK!" });
}

function oldBlink(rig: AntminerRig, request: HttpRequest): Reply {
  const action = new URLSearchParams(request.body).get("action");
  if (action !== "onPageLoaded" && rig.body.denies()) return html(403, "<h1>403 - Forbidden</h1>");
  if (action !== "onPageLoaded") rig.blinks = action === "startBlink";
  return json({ isBlinking: rig.blinks });
}

export function reboot(rig: CgiRig): Reply {
  if (rig.body.denies()) return html(403, "<h1>403 - Forbidden</h1>");
  rig.body.model.restart(rig.body.restartSeconds);
  rig.blinks = false;
  return text("");
}

const reply = (status: number, type: string, body: string): Reply =>
  httpReply({
    status,
    reason: status === 200 ? "OK" : "Not here",
    headers: [`Content-Type: ${type}`, "Content-Length: {length}", "Connection: close", "Server: lighttpd/1.4.32"],
    body,
    close: true,
  });

export const json = (value: unknown): Reply => reply(200, "application/json", JSON.stringify(value));
export const text = (body: string): Reply => reply(200, "text/plain", body);
export const html = (status: number, body: string): Reply => reply(status, "text/html", body);
