import { z } from "zod";
import { jsonOf } from "../json.ts";
import { activePool } from "../model.ts";
import { logWrite } from "../rig.ts";
import {
  type BraiinsRig,
  boardShare,
  login,
  measuresPower,
  restart,
  run,
  setCooling,
  setPower,
  slotsOf,
} from "./rig.ts";

/** An answer of GraphQL, and the session that a login started. */
export interface GraphqlAnswer {
  readonly body: unknown;
  readonly session?: string;
}

const Request = z.object({ query: z.string(), variables: z.record(z.string(), z.unknown()).default({}) });

/** The query without a login, by which public programs recognise model and firmware version. */
const open =
  /^\s*(query\s*)?\{\s*(bosminer\s*\{\s*info\s*\{\s*modelName|bos\s*\{\s*info\s*\{\s*version\s*\{\s*full\s*\})\s*\}\s*\}\s*\}\s*$/;

/** The web interface of BOSminer: a login, queries and mutations. BOSer has only the part without login. */
export function graphql(rig: BraiinsRig, text: string, admitted: boolean): GraphqlAnswer {
  const request = Request.safeParse(jsonOf(text));
  if (!request.success) return failed("Invalid request");
  const { query, variables } = request.data;
  if (open.test(query)) return ask(rig, query);
  if (rig.options.generation === "boser") return failed("Unauthorized");
  if (query.includes("login(")) return logIn(rig, variables);
  if (!admitted) return failed("Unauthorized");
  return query.startsWith("mutation") ? mutate(rig, query, variables) : ask(rig, query);
}

const failed = (message: string): GraphqlAnswer => ({ body: { data: null, errors: [{ message }] } });

function logIn(rig: BraiinsRig, { username, password }: Readonly<Record<string, unknown>>): GraphqlAnswer {
  if (username !== "root" || password !== rig.options.password) return failed("Invalid username or password");
  return { body: { data: { auth: { login: { void: null } } } }, session: login(rig) };
}

function ask(rig: BraiinsRig, query: string): GraphqlAnswer {
  const errors = rig.stopped && query.includes("workSolver") ? [{ message: "UNAVAILABLE" }] : [];
  try {
    const data = chosen(selectionOf(query), dataOf(rig));
    return { body: errors.length > 0 ? { data, errors } : { data } };
  } catch (error) {
    return failed(error instanceof UnknownField ? error.message : "Syntax error");
  }
}

class UnknownField extends Error {}

type Selection = Map<string, Selection | null>;

/** The fields of a query, including those inside fragments on a type of a union. */
function selectionOf(query: string): Selection {
  const words = query.slice(query.indexOf("{")).match(/\.\.\.\s*on\s+\w+|[{}]|\w+/g) ?? [];
  const root: Selection = new Map();
  const open = [root];
  let last = "";
  for (const word of words.slice(1, -1)) {
    const now = open.at(-1);
    if (now === undefined) throw new Error("a brace too many");
    if (word === "}") open.pop();
    else if (word === "{") open.push(last.startsWith("...") ? now : opened(now, last));
    else if (!word.startsWith("...")) now.set(word, null);
    last = word;
  }
  if (open.length !== 1) throw new Error("a brace is missing");
  return root;
}

function opened(parent: Selection, name: string): Selection {
  const inner: Selection = new Map();
  parent.set(name, inner);
  return inner;
}

function chosen(selection: Selection, value: unknown): unknown {
  if (Array.isArray(value)) return value.map((each) => chosen(selection, each));
  if (typeof value !== "object" || value === null) return value;
  const fields = new Map(Object.entries(value));
  const picked = [...selection].map(([name, inner]) => {
    if (!fields.has(name)) throw new UnknownField(`Unknown field "${name}"`);
    const field = fields.get(name);
    return [name, inner === null ? field : chosen(inner, field)];
  });
  return Object.fromEntries(picked);
}

const versions = {
  bosminer: "2022-09-13-0-0a1b2c3d-22.08-plus",
  boser: "2025-07-29-0-0a1b2c3d-25.07-plus",
} as const;

const mhs = (rate: number): number => rate / 1e6;

function dataOf(rig: BraiinsRig): unknown {
  const { model, name } = rig.body;
  const { cooling } = rig;
  const measured = !rig.stopped;
  return {
    bos: {
      hostname: name,
      faultLight: rig.locate,
      info: { version: { full: versions[rig.options.generation] } },
      uptime: { durationS: Math.floor(model.elapsed) + 40 },
    },
    bosminer: {
      info: {
        modelName: model.hardware.model,
        workSolver: measured ? workSolver(rig) : null,
        fans: measured ? fans(rig) : null,
        summary: measured ? { power: power(rig) } : null,
        poolGroups: poolGroups(rig),
      },
      config: {
        autotuning: { enabled: true, mode: "POWER_TARGET", powerTarget: rig.powerTarget, hashrateTarget: null },
        tempControl: { mode: cooling.mode.toUpperCase(), targetTemp: cooling.target, hotTemp: cooling.hot },
        fanControl: { speed: Math.round(cooling.ratio * 100) },
        groups: [{ id: "0", strategy: { quota: 1 } }],
      },
    },
  };
}

function workSolver(rig: BraiinsRig): unknown {
  const { model } = rig.body;
  const boards = slotsOf(rig).map((slot, index) => ({
    name: String(slot),
    realHashrate: { mhs5S: mhs(model.hashrate(5) * boardShare(rig, index)) },
    nominalMhs: mhs(model.ratedHashrate * boardShare(rig, index)),
    hwDetails: { chips: model.hardware.chips, frequencyMhz: model.frequency / 1e6, voltageV: model.voltage },
    temperatures: [
      { name: "Board", degreesC: model.temperature - index },
      { name: "Chip", degreesC: model.temperature + 15 - index },
    ],
  }));
  return {
    realHashrate: { mhs5S: mhs(model.hashrate(5)) },
    nominalMhs: mhs(model.ratedHashrate),
    childSolvers: boards,
  };
}

const fans = ({ body: { model } }: BraiinsRig): unknown =>
  Array.from({ length: 4 }, (_, index) => ({
    name: String(index),
    rpm: index < model.hardware.fans ? model.fanRpm : 0,
    speed: Math.round(model.fan * 100),
  }));

const power = (rig: BraiinsRig): unknown => ({
  limitW: measuresPower(rig) ? rig.powerTarget : null,
  approxConsumptionW: measuresPower(rig) ? Math.round(rig.body.model.power) : null,
});

function poolGroups({ body: { model } }: BraiinsRig): unknown {
  const active = activePool(model.pools);
  const pools = model.pools.map((pool) => {
    const { accepted, rejected } = model.sharesOf(pool);
    return {
      url: pool.url,
      user: pool.user,
      status: !pool.enabled ? "DISABLED" : pool.alive ? "ALIVE" : "DEAD",
      active: pool === active,
      shares: { acceptedSolutions: accepted, rejectedSolutions: rejected },
    };
  });
  return [{ name: "Default", pools }];
}

const fine = { __typename: "VoidResult" };

interface Mutation {
  readonly sign: RegExp;
  /** A message if the mutation is refused. */
  readonly run: (rig: BraiinsRig, variables: Readonly<Record<string, unknown>>) => string | null;
}

const Locate = z.object({ enable: z.boolean() });
const Watts = z.object({ watts: z.int() });
const Fans = z.object({
  input: z.object({
    mode: z.enum(["AUTO", "MANUAL"]).optional(),
    targetTemp: z.number().min(0).max(200).optional(),
    speed: z.int().min(0).max(100).optional(),
  }),
});

const mutations: readonly Mutation[] = [
  { sign: /\bstart\b/, run: (rig) => quiet(() => run(rig, { stopped: false, paused: false })) },
  { sign: /\bstop\b/, run: (rig) => quiet(() => run(rig, { stopped: true })) },
  { sign: /\brestart\b/, run: (rig) => quiet(() => restart(rig, 0)) },
  { sign: /\breboot\b/, run: (rig) => quiet(() => restart(rig, rig.body.restartSeconds)) },
  { sign: /setFaultLight/, run: locate },
  { sign: /updateAutotuning/, run: tune },
  { sign: /updateTempAndFans/, run: cool },
];

function quiet(act: () => unknown): null {
  act();
  return null;
}

function mutate(rig: BraiinsRig, query: string, variables: Readonly<Record<string, unknown>>): GraphqlAnswer {
  const mutation = mutations.find(({ sign }) => sign.test(query));
  if (mutation === undefined) return failed("Unknown mutation");
  const name = mutation.sign.source.replaceAll("\\b", "");
  logWrite(rig.body.requests, `${name} ${JSON.stringify(variables)}`);
  const refused = rig.body.denies() ? "Permission denied" : mutation.run(rig, variables);
  const result = refused === null ? fine : { __typename: "BosminerError", message: refused };
  return { body: { data: { bosminer: { [name]: result } } } };
}

function locate(rig: BraiinsRig, variables: unknown): string | null {
  const given = Locate.safeParse(variables);
  if (!given.success) return "Invalid value";
  rig.locate = given.data.enable;
  return null;
}

function tune(rig: BraiinsRig, variables: unknown): string | null {
  const given = Watts.safeParse(variables);
  return given.success && setPower(rig, given.data.watts) ? null : "Power target is out of range";
}

function cool(rig: BraiinsRig, variables: unknown): string | null {
  const given = Fans.safeParse(variables);
  if (!given.success) return "Invalid value";
  const { mode, targetTemp, speed } = given.data.input;
  const { cooling } = rig;
  setCooling(rig, {
    ...cooling,
    mode: mode === undefined ? cooling.mode : mode === "AUTO" ? "auto" : "manual",
    target: targetTemp ?? cooling.target,
    ratio: speed === undefined ? cooling.ratio : speed / 100,
  });
  return null;
}
