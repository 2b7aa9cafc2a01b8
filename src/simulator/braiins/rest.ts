import { z } from "zod";
import type { HttpRequest } from "../http-message.ts";
import { jsonOf } from "../json.ts";
import { logWrite } from "../rig.ts";
import { coolingMode, pages, watt } from "./rest-reports.ts";
import {
  type BraiinsRig,
  defaultCooling,
  knows,
  login,
  newId,
  restart,
  run,
  setCooling,
  setGroups,
  setPower,
  slotsOf,
} from "./rig.ts";

/** An answer of the API: a status, and a JSON body unless it is undefined. */
export interface RestAnswer {
  readonly status: 200 | 201 | 204 | 400 | 401 | 403 | 404 | 409 | 412;
  readonly body?: unknown;
}

const root = "/api/v1/";

/** The REST API of BOSer, 25.07 and later; undefined for other paths. */
export function rest(rig: BraiinsRig, { method, path, headers, body }: HttpRequest): RestAnswer | undefined {
  if (rig.options.generation !== "boser" || !path.startsWith(root)) return undefined;
  // The list of pools is served with and without the slash; public programs use it without.
  const page = path.slice(root.length).replace(/^pools$/, "pools/");
  if (page === "version/") return ok({ major: 1, minor: 7, patch: 0 });
  if (method === "POST" && page === "auth/login") return logIn(rig, body);
  if (!knows(rig, headers.get("authorization"))) return { status: 401, body: { message: "Unauthorized" } };
  if (method === "GET") return read(rig, page);
  logWrite(rig.body.requests, `${method} ${page}${body === "" ? "" : ` ${body}`}`);
  if (rig.body.denies()) return { status: 403, body: { message: "Forbidden" } };
  const act = acts.get(`${method} ${page}`);
  return act === undefined ? missing : act(rig, jsonOf(body));
}

const ok = (body: unknown): RestAnswer => ({ status: 200, body });
const missing: RestAnswer = { status: 404 };
const bad = (message: string): RestAnswer => ({ status: 400, body: { message } });

const Login = z.object({ username: z.string(), password: z.string() });

function logIn(rig: BraiinsRig, body: string): RestAnswer {
  const given = Login.safeParse(jsonOf(body));
  if (!given.success) return bad("Invalid request");
  const { username, password } = given.data;
  if (username !== "root" || password !== rig.options.password) {
    return { status: 401, body: { message: "Invalid username or password" } };
  }
  return ok({ token: login(rig), timeout_s: rig.options.tokenSeconds });
}

function read(rig: BraiinsRig, page: string): RestAnswer {
  const report = pages.get(page);
  return report === undefined ? missing : ok(report(rig));
}

type Act = (rig: BraiinsRig, body: unknown) => RestAnswer;

const Locate = z.boolean();
const Power = z.object({ watt: z.int().min(0) });
const Degrees = z.object({ degree_c: z.number() }).nullish();
const temperatures = { target_temperature: Degrees, hot_temperature: Degrees, dangerous_temperature: Degrees };
const CoolingMode = z.union([
  z.object({ auto: z.object(temperatures) }),
  z.object({ manual: z.object({ ...temperatures, fan_speed_ratio: z.number().min(0).max(1).nullish() }) }),
]);
const Boards = z.object({ enable: z.boolean(), hashboard_ids: z.array(z.string()) });
const Groups = z.array(
  z.object({
    uid: z.string().nullish(),
    name: z.string(),
    load_balance_strategy: z.object({ quota: z.object({ value: z.int().min(0) }) }).nullish(),
    pools: z.array(
      z.object({
        uid: z.string().nullish(),
        url: z.string().regex(/^[a-z0-9+]+:\/\/.+/),
        user: z.string(),
        password: z.string().nullish(),
        enabled: z.boolean().nullish(),
      }),
    ),
  }),
);

const acts: ReadonlyMap<string, Act> = new Map<string, Act>([
  ["PUT actions/pause", (rig) => (rig.stopped ? notRunning : ok(run(rig, { paused: true })))],
  ["PUT actions/resume", (rig) => (rig.stopped ? notRunning : ok(run(rig, { paused: false })))],
  ["PUT actions/stop", (rig) => ok(run(rig, { stopped: true }))],
  ["PUT actions/start", (rig) => ok(run(rig, { stopped: false, paused: false }))],
  ["PUT actions/restart", (rig) => done(rig, () => restart(rig, 0))],
  ["PUT actions/reboot", (rig) => ({ ...done(rig, () => restart(rig, rig.body.restartSeconds)), status: 204 })],
  ["PUT actions/locate", locate],
  ["PUT performance/power-target", power],
  ["PUT cooling/mode", setCoolingMode],
  ["PATCH miner/hw/hashboards", setBoards],
  ["PUT pools/batch", setBatch],
]);

const notRunning: RestAnswer = { status: 412, body: { message: "BOSminer is not running" } };

function done(_: BraiinsRig, act: () => void): RestAnswer {
  act();
  return ok(true);
}

function locate(rig: BraiinsRig, body: unknown): RestAnswer {
  const on = Locate.safeParse(body);
  if (!on.success) return bad("Invalid request");
  rig.locate = on.data;
  return ok(on.data);
}

function power(rig: BraiinsRig, body: unknown): RestAnswer {
  const target = Power.safeParse(body);
  if (!target.success || !setPower(rig, target.data.watt)) return bad("Power target is out of range");
  return ok(watt(rig.powerTarget));
}

/** Absent values are kept in the same mode, and reset in another. */
function setCoolingMode(rig: BraiinsRig, body: unknown): RestAnswer {
  const given = CoolingMode.safeParse(body);
  if (!given.success) return bad("Invalid cooling mode");
  const mode = "auto" in given.data ? "auto" : "manual";
  const fields = "auto" in given.data ? given.data.auto : given.data.manual;
  const kept = mode === rig.cooling.mode ? rig.cooling : defaultCooling;
  const ratio = "manual" in given.data ? given.data.manual.fan_speed_ratio : null;
  setCooling(rig, {
    mode,
    target: fields.target_temperature?.degree_c ?? kept.target,
    hot: fields.hot_temperature?.degree_c ?? kept.hot,
    dangerous: fields.dangerous_temperature?.degree_c ?? kept.dangerous,
    ratio: ratio ?? kept.ratio,
  });
  return ok(coolingMode(rig));
}

function setBoards(rig: BraiinsRig, body: unknown): RestAnswer {
  const given = Boards.safeParse(body);
  if (!given.success) return bad("Invalid request");
  const slots = slotsOf(rig).map(String);
  const indices = given.data.hashboard_ids.map((id) => slots.indexOf(id));
  if (indices.includes(-1)) return bad("Unknown hashboard");
  rig.body.model.change(({ boardsOff }) => {
    for (const index of indices) {
      if (given.data.enable) boardsOff.delete(index);
      else boardsOff.add(index);
    }
  });
  return ok({ hashboards: given.data.hashboard_ids.map((id) => ({ id, is_enabled: given.data.enable })) });
}

function setBatch(rig: BraiinsRig, body: unknown): RestAnswer {
  const given = Groups.safeParse(body);
  if (!given.success) return bad("Invalid pool configuration");
  setGroups(
    rig,
    given.data.map((group) => ({
      uid: group.uid ?? newId(rig),
      name: group.name,
      quota: group.load_balance_strategy?.quota.value ?? 1,
      pools: group.pools.map((pool) => ({
        uid: pool.uid ?? newId(rig),
        url: pool.url,
        user: pool.user,
        password: pool.password ?? null,
        enabled: pool.enabled ?? true,
      })),
    })),
  );
  return { status: 200, body: given.data };
}
