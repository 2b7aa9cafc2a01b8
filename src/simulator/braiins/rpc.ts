import { objectIn } from "../json.ts";
import { activePool } from "../model.ts";
import { type Reply, rpcReply } from "../reply.ts";
import { logWrite } from "../rig.ts";
import { type BraiinsRig, boardShare, measuresPower, run, slotsOf } from "./rig.ts";

type Report = Readonly<Record<string, unknown>>;

/** The RPC that BOSminer and BOSer share with cgminer; the reply ends the connection. */
export function rpc(rig: BraiinsRig, text: string): Reply | null {
  if (text === "") return null;
  rig.body.model.advance();
  // The port is closed while the program is not running.
  if (rig.stopped && rig.options.generation === "bosminer") return { ...rpcReply(""), tail: "" };
  const request = requestOf(text);
  if (request === null) return rpcReply(JSON.stringify(status(rig, "E", 23, "Invalid JSON")));
  const names = request.command.split("+");
  const answers = names.map((name): [string, Report] => [name, answer(rig, name, request.parameter)]);
  const [only] = answers;
  const whole =
    names.length === 1 && only !== undefined
      ? only[1]
      : { ...Object.fromEntries(answers.map(([name, report]) => [name, [report]])), id: 1 };
  return rpcReply(JSON.stringify(whole));
}

function requestOf(text: string): { command: string; parameter: string | null } | null {
  const { command, parameter = null } = objectIn(text) ?? {};
  return typeof command === "string" ? { command, parameter: parameter === null ? null : String(parameter) } : null;
}

const program = ({ options }: BraiinsRig): string =>
  options.generation === "bosminer" ? "BOSminer+ 0.2.0-0a1b2c3d" : "BOSer boser-openwrt 0.1.0-0a1b2c3d";

const status = (rig: BraiinsRig, letter: string, code: number, message: string): Report => ({
  STATUS: [
    { Code: code, Description: program(rig), Msg: message, STATUS: letter, When: Math.floor(rig.body.model.at / 1000) },
  ],
  id: 1,
});

const unavailable = (rig: BraiinsRig): Report => status(rig, "E", 14, "Unavailable");

function answer(rig: BraiinsRig, name: string, parameter: string | null): Report {
  const report = reports.get(name);
  if (report !== undefined) return report(rig);
  if (name === "check") return check(rig, parameter ?? "");
  const act = acts.get(name);
  if (act === undefined) return status(rig, "E", 14, "Invalid command");
  logWrite(rig.body.requests, parameter === null ? name : `${name}|${parameter}`);
  return rig.body.denies() ? status(rig, "E", 45, "Access denied") : act(rig, parameter ?? "");
}

function check(rig: BraiinsRig, name: string): Report {
  const exists = reports.has(name) || acts.has(name);
  const access = exists && !(acts.has(name) && rig.body.denies());
  return {
    ...status(rig, "S", 72, "Check command"),
    CHECK: [{ Access: access ? "Y" : "N", Exists: exists ? "Y" : "N" }],
  };
}

const mega = (rate: number): number => Number((rate / 1e6).toFixed(3));

const reports: ReadonlyMap<string, (rig: BraiinsRig) => Report> = new Map([
  ["version", version],
  ["summary", summary],
  ["pools", pools],
  ["devs", devs],
  ["devdetails", devdetails],
  ["fans", fans],
  ["temps", temps],
  ["tempctrl", tempctrl],
  ["tunerstatus", tunerstatus],
]);

function version(rig: BraiinsRig): Report {
  const [key = "", ...rest] = program(rig).split(" ");
  return {
    ...status(rig, "S", 22, `${key} versions`),
    VERSION: [{ API: "3.7", [key]: rest.join(" ") }],
  };
}

function summary(rig: BraiinsRig): Report {
  const { model } = rig.body;
  const { accepted, rejected } = model.shares;
  const record = {
    Accepted: accepted,
    "Best Share": model.bestShare,
    "Device Hardware%": 0.01,
    Elapsed: Math.floor(model.elapsed),
    "Found Blocks": 0,
    "Hardware Errors": model.hardwareErrors,
    "MHS 15m": mega(model.hashrate(900)),
    "MHS 1m": mega(model.hashrate(60)),
    "MHS 24h": mega(model.hashrate(86_400)),
    "MHS 5m": mega(model.hashrate(300)),
    "MHS 5s": mega(model.hashrate(5)),
    "MHS av": mega(model.averageHashrate),
    Rejected: rejected,
    Stale: 0,
    "Work Utility": 0,
  };
  return { ...status(rig, "S", 11, "Summary"), SUMMARY: [record] };
}

function pools(rig: BraiinsRig): Report {
  const { model } = rig.body;
  const active = activePool(model.pools);
  const list = model.pools.map((pool, index) => {
    const { accepted, rejected } = model.sharesOf(pool);
    return {
      Accepted: accepted,
      POOL: index,
      Priority: pool.priority,
      Quota: pool.quota,
      Rejected: rejected,
      Stale: 0,
      Status: !pool.enabled ? "Disabled" : pool.alive ? "Alive" : "Dead",
      "Stratum Active": pool === active,
      URL: pool.url,
      User: pool.user,
    };
  });
  return { ...status(rig, "S", 7, `${list.length} Pool(s)`), POOLS: list };
}

function devs(rig: BraiinsRig): Report {
  const { model } = rig.body;
  const list = slotsOf(rig).map((id, index) => ({
    ASC: index,
    Accepted: 0,
    Enabled: "Y",
    ID: id,
    "MHS 5s": mega(model.hashrate(5) * boardShare(rig, index)),
    "MHS 1m": mega(model.hashrate(60) * boardShare(rig, index)),
    "MHS av": mega(model.averageHashrate * boardShare(rig, index)),
    Name: "",
    "Nominal MHS": mega(model.ratedHashrate * boardShare(rig, index)),
    Rejected: 0,
    Status: "Alive",
    Temperature: 0,
  }));
  return { ...status(rig, "S", 9, `${list.length} ASC(s)`), DEVS: list };
}

function devdetails(rig: BraiinsRig): Report {
  if (rig.paused || rig.stopped) return unavailable(rig);
  const { model, options } = { model: rig.body.model, options: rig.options };
  const list = slotsOf(rig).map((id, index) => ({
    Chips: model.hardware.chips,
    DEVDETAILS: index,
    // Hz in old firmware, MHz in new.
    Frequency: Math.round(options.generation === "bosminer" ? model.frequency : model.frequency / 1e6),
    ID: id,
    Model: model.hardware.model,
    Name: `Hash Chain ${id}`,
    Voltage: model.voltage,
  }));
  return { ...status(rig, "S", 69, "Device Details"), DEVDETAILS: list };
}

/** Four connectors, populated or not. */
function fans(rig: BraiinsRig): Report {
  const { model } = rig.body;
  const list = Array.from({ length: 4 }, (_, index) => ({
    FAN: index,
    ID: index,
    RPM: index < model.hardware.fans ? model.fanRpm : 0,
    Speed: Math.round(model.fan * 100),
  }));
  return { ...status(rig, "S", 202, "4 Fan(s)"), FANS: list };
}

function temps(rig: BraiinsRig): Report {
  const { temperature } = rig.body.model;
  const list = slotsOf(rig).map((id, index) => ({
    Board: Number((temperature - index).toFixed(3)),
    Chip: Number((temperature + 15 - index).toFixed(3)),
    ID: id,
    TEMP: index,
  }));
  return { ...status(rig, "S", 201, `${list.length} Temp(s)`), TEMPS: list };
}

function tempctrl(rig: BraiinsRig): Report {
  const { mode, target, hot, dangerous } = rig.cooling;
  const control = { Dangerous: dangerous, Hot: hot, Mode: mode === "auto" ? "Automatic" : "Manual", Target: target };
  return { ...status(rig, "S", 200, "Temperature control"), TEMPCTRL: [control] };
}

function tunerstatus(rig: BraiinsRig): Report {
  if (!measuresPower(rig)) return unavailable(rig);
  const { model } = rig.body;
  const slots = slotsOf(rig);
  const chains = slots.map((id) => ({
    ApproximatePowerConsumptionWatt: Math.round(model.power / slots.length),
    HashchainIndex: id,
    Iteration: 0,
    PowerLimitWatt: Math.round(rig.powerTarget / slots.length),
    Status: rig.paused ? "paused" : "Stable",
    TunerRunning: !rig.paused,
  }));
  const record = {
    ApproximateChainPowerConsumption: Math.round(model.power) - 10,
    ApproximateMinerPowerConsumption: Math.round(model.power),
    DynamicPowerScaling: "Disabled",
    PowerLimit: rig.powerTarget,
    TunerChainStatus: chains,
  };
  return { ...status(rig, "S", 203, "Tuner Status"), TUNERSTATUS: [record] };
}

type Act = (rig: BraiinsRig, parameter: string) => Report;

const acts: ReadonlyMap<string, Act> = new Map([
  ["pause", (rig: BraiinsRig) => pausing(rig, true)],
  ["resume", (rig: BraiinsRig) => pausing(rig, false)],
  ["switchpool", onPool("switches to", (rig, index) => toFront(rig, index))],
  ["enablepool", onPool("enables", (rig, index) => enable(rig, index, true))],
  ["disablepool", onPool("disables", (rig, index) => enable(rig, index, false))],
  ["removepool", onPool("removes", (rig, index) => remove(rig, index))],
  ["addpool", add],
]);

function pausing(rig: BraiinsRig, paused: boolean): Report {
  run(rig, { paused });
  const [word, code] = paused ? ["Pause", 204] : ["Resume", 205];
  return { ...status(rig, "S", Number(code), String(word)), [String(word).toUpperCase()]: [true] };
}

/** Changes the pools in use, not the stored ones. */
function onPool(verb: string, act: (rig: BraiinsRig, index: number) => void): Act {
  return (rig, parameter) => {
    const index = Number(parameter);
    const pool = rig.body.model.pools[index];
    if (pool === undefined) return status(rig, "E", 26, `Invalid pool id ${parameter.slice(0, 10)}`);
    rig.body.model.change(() => act(rig, index));
    return status(rig, "S", 27, `BOSminer ${verb} pool ${index}:'${pool.url}'`);
  };
}

function toFront({ body }: BraiinsRig, index: number): void {
  const first = body.model.pools[index];
  const others = body.model.pools.filter((pool) => pool !== first).toSorted((a, b) => a.priority - b.priority);
  for (const [priority, pool] of [first, ...others].entries()) if (pool !== undefined) pool.priority = priority;
  if (first !== undefined) first.enabled = true;
}

function enable({ body }: BraiinsRig, index: number, enabled: boolean): void {
  const pool = body.model.pools[index];
  if (pool !== undefined) pool.enabled = enabled;
}

function remove({ body }: BraiinsRig, index: number): void {
  body.model.setPools(body.model.pools.filter((_, at) => at !== index));
}

function add(rig: BraiinsRig, parameter: string): Report {
  const [url = "", user = "", password = "", ...more] = parameter.split(",");
  if (url === "" || user === "" || more.length > 0) {
    return status(rig, "E", 53, `Invalid addpool details '${parameter}'`);
  }
  const { model } = rig.body;
  const difficulty = model.pools[0]?.difficulty ?? 1024;
  const at = { enabled: true, alive: true, priority: model.pools.length, quota: 1, hashes: 0, lastShareAt: null };
  model.setPools([...model.pools, { url, user, password, difficulty, ...at }]);
  return status(rig, "S", 55, `Added pool '${url}'`);
}
