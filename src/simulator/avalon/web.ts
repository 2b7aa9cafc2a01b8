import { createHash } from "node:crypto";
import { type HttpRequest, httpReply } from "../http-message.ts";
import type { Reply } from "../reply.ts";
import { logWrite } from "../rig.ts";
import { type AvalonRig, type KeptPool, reboot, settle } from "./state.ts";

/** Canaan's web pages on port 80: without the right cookie they answer with the login page and status 200. */
export function webAnswer(rig: AvalonRig, request: HttpRequest): Reply {
  settle(rig);
  const { method, path, headers } = request;
  if (path === "/get_auth.cgi" && hasSalt(rig))
    return page(`getAuthCallback ({\t"auth":"${saltOf(rig)}","code":"0",});`);
  if (path === "/get_minerinfo.cgi" && rig.generation === "nano3")
    return page(`minerinfoCallback({"hwtype":"Avalonnano","mac":"${rig.body.mac.toLowerCase()}","dna":"0"});`);
  const handler = pages.get(path);
  if (handler === undefined) return path === "/" ? page(login) : page("Not Found", 404);
  if (headers.get("cookie") !== `auth=${cookieOf(rig)}`) return page(login);
  return handler(rig, method, request.body);
}

const login =
  '<!doctype html><html><head><title>Avalon Device</title></head><body><form name="loginform" action="login.cgi"></form></body></html>';

/** The A-series have no page for the salt, and a constant one. */
const hasSalt = ({ generation }: AvalonRig): boolean => generation !== "a-series" && generation !== "nano3";

/** A new one after each start. */
const saltOf = ({ model, body }: AvalonRig): string =>
  createHash("sha256").update(`${body.mac}${model.startedAt}`).digest("hex").slice(0, 8);

const cookieOf = (rig: AvalonRig): string =>
  (hasSalt(rig) ? saltOf(rig) : "ff0000ff") + createHash("sha256").update(rig.password).digest("hex").slice(0, 24);

type Page = (rig: AvalonRig, method: string, body: string) => Reply;

/** All values are strings, nothing is escaped, and a comma precedes the last brace. */
const dashboard: Page = (rig) => {
  const { model, kept } = rig;
  const fields: [string, string | number][] = [
    ["hwtype", rig.generation === "q" ? "Avalon Q" : "Avalon"],
    ["elapsed", Math.floor(model.elapsed)],
    ["workingmode", rig.mode.now],
    ["power", Math.round(model.power)],
    ["mac", rig.body.mac.toLowerCase()],
    ...[0, 1, 2].flatMap((slot): [string, string][] => [
      [`pool${slot + 1}`, kept[slot]?.url ?? ""],
      [`worker${slot + 1}`, kept[slot]?.worker ?? ""],
      [`passwd${slot + 1}`, kept[slot]?.password ?? ""],
    ]),
  ];
  return page(`dashboardCallback({${fields.map(([key, value]) => `"${key}":"${value}",`).join("")}});`);
};

/** Pools missing in the form are cleared. */
const keepPools: Page = (rig, method, body) => {
  if (method !== "POST") return page(poolPage);
  logWrite(rig.body.requests, "POST /cgpools.cgi");
  const form = new URLSearchParams(body);
  const kept = [1, 2, 3].map(
    (slot): KeptPool => ({
      url: form.get(`pool${slot}`) ?? "",
      worker: form.get(`worker${slot}`) ?? "",
      password: form.get(`passwd${slot}`) ?? "",
    }),
  );
  if (!rig.body.denies()) rig.kept = kept.filter(({ url }) => url !== "");
  return page(poolPage);
};

const poolPage = "<!doctype html><html><head><title>Pools</title></head><body>Reboot to make it work</body></html>";

const restart: Page = (rig, method) => {
  if (method === "POST") {
    logWrite(rig.body.requests, "POST /reboot.cgi");
    reboot(rig);
  }
  return page(poolPage);
};

const pages: ReadonlyMap<string, Page> = new Map([
  ["/get_dashboard.cgi", dashboard],
  ["/cgpools.cgi", keepPools],
  ["/reboot.cgi", restart],
]);

const page = (body: string, status = 200): Reply =>
  httpReply({
    status,
    reason: status === 200 ? "OK" : "Not Found",
    headers: ["Content-Type: text/html", "Content-Length: {length}"],
    body,
    close: true,
  });
