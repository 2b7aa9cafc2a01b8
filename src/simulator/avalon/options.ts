import { type AvalonGeneration, type AvalonRig, reboot, setMining, work } from "./state.ts";

/** The result of an option: an error, an information, or null on success. */
export type OptionAnswer = { readonly error: string } | { readonly info: string } | null;

type Option = (rig: AvalonRig, value: string) => OptionAnswer;

const error = (words: string): OptionAnswer => ({ error: words });
const info = (words: string): OptionAnswer => ({ info: words });

const offOrOn =
  (mining: boolean): Option =>
  (rig, value) => {
    const at = /^1:\s*(\d+)$/.exec(value)?.[1];
    if (at === undefined) return error("parameter invalid");
    rig.due = { at: Number(at), mining };
    return info(`success ${mining ? "softon" : "softoff"}:${at}`);
  };

/** On an A-series: a bare number, in use from the next start on; 255 reads it. */
const plainMode: Option = (rig, value) => {
  const mode = /^\d{1,3}$/.test(value) ? Number(value) : -1;
  if (mode === 255) return info(`WORKMODE[${rig.mode.next}]`);
  if (mode !== 0 && mode !== 1) return error("workmode unknown argument");
  rig.mode.next = mode;
  return info(`WORKMODE[${mode}]`);
};

const setMode =
  (name: "workmode" | "worklevel"): Option =>
  (rig, value) => {
    if (value === "get") return info(`${name} ${rig.mode.now}`);
    const wanted = /^set,(\d)$/.exec(value)?.[1];
    if (wanted === undefined) return error(`${name} unknown argument`);
    if (Number(wanted) > 2) return error("error:1 not support set workmode max_mode[2]");
    if (rig.generation === "q" || rig.generation === "mini3") rig.mode.next = Number(wanted);
    else work(rig, Number(wanted));
    return null;
  };

/** The level within the mode; this rig has only one. */
const oneLevel: Option = (_, value) => {
  if (value === "get") return info("worklevel 0");
  return value === "set,0" ? null : error("worklevel unknown argument");
};

const fan: Option = ({ model }, value) => {
  const speed = /^-?\d{1,3}$/.test(value) ? Number(value) : Number.NaN;
  if (Number.isNaN(speed)) return error("No value passed to avalon-fan");
  if (speed !== -1 && (speed < 15 || speed > 100))
    return error("invalid fan value, valid range 15-100 for stable pwm,-1 for auto adjust");
  model.change(() => {
    model.fanSetting = speed === -1 ? null : speed / 100;
  });
  return null;
};

const led: Option = (rig, value) => {
  if (value === "1-255") return info(`LED[${rig.led ? 1 : 0}]`);
  if (value !== "1-0" && value !== "1-1") return error("led unknown argument");
  rig.led = value === "1-1";
  return null;
};

const light: Option = (rig, value) => {
  const parts = value.split("-").map(Number);
  const [effect = 9] = parts;
  if (parts.length !== 6 || parts.some((part) => !Number.isInteger(part)) || effect > 4)
    return error("led parameter wrong");
  rig.light = parts;
  return info("led set ok");
};

const target: Option = ({ model }, value) => {
  const degrees = Number(value);
  if (!(degrees >= 50 && degrees <= 90)) return error("invalid target-temp");
  model.change(() => {
    model.temperatureTarget = degrees;
  });
  return null;
};

/** In use from the next start on. The answer repeats the pool's password. */
const setPool: Option = (rig, value) => {
  const [user, password, slot = "", url, worker, pass = ""] = value.split(",");
  if (url === undefined || worker === undefined) return error("we need 5 | 6 arguments");
  if (user !== "root") return error("username err");
  if (password !== rig.password) return error("userpass err");
  if (!/^[0-2]$/.test(slot)) return error(`pool num must between 0 and 2 , your input is ${slot}`);
  if (url.includes("refused")) return error(`pool ${slot} not set: '${value}'`);
  rig.kept = rig.kept.toSpliced(Number(slot), 1, { url, worker, password: pass });
  return info(
    `\npool ${slot} success set to ${url}\nworker is ${worker}\nworkerpassword is ${pass}\nPlease reboot miner to make config work.\n`,
  );
};

const restart: Option = (rig, value) => {
  if (!/^\d{1,3}$/.test(value)) return error("reboot value not number");
  if (Number(value) > 300) return error("reboot value should be 0~300 seconds");
  reboot(rig);
  return null;
};

/** Cuts the power of the boards; without a value it reports the state of the power supply. */
const hashPower: Option = (rig, value) => {
  if (value === "") return info(`PS[0 1214 1316 242 ${Math.round(rig.model.power)} 1320]`);
  if (value !== "0") return error("hashpower unknown argument");
  setMining(rig, false);
  return info("Power off hash now ...");
};

const soft: readonly (readonly [string, Option])[] = [
  ["softon", offOrOn(true)],
  ["softoff", offOrOn(false)],
];

const late: readonly (readonly [string, Option])[] = [
  ["voltage", () => error("Setting invalid: voltage range 2150~2600")],
  ["fan-spd", fan],
  ["lcd", () => info("success lcd:id[0] val[1] len=4")],
  ["workmode", setMode("workmode")],
  ["worklevel", oneLevel],
  ["work_mode_lvl", (rig) => info(`workmode ${rig.mode.now} worklevel 0`)],
  ["reboot", restart],
];

/** The options by generation; an option without its required value reports that. */
const options: Readonly<Record<AvalonGeneration, ReadonlyMap<string, Option>>> = {
  "a-series": new Map([
    ["led", led],
    ["workmode", plainMode],
    ["setpool", setPool],
    ["hashpower", hashPower],
    ["fan-spd", fan],
    ["reboot", restart],
    ...soft,
  ]),
  nano3: new Map([
    ["worklevel", setMode("worklevel")],
    ["reboot", restart],
  ]),
  nano3s: new Map([...late, ["ledset", light], ["target-temp", target]]),
  mini3: new Map([...late, ...soft]),
  q: new Map([...late, ...soft]),
};

export function setOption(rig: AvalonRig, name: string, value: string): OptionAnswer {
  const known = options[rig.generation];
  if (name === "help" && rig.helps) return info(`help|${[...known.keys()].join("|")}|`);
  const option = known.get(name);
  if (option === undefined) return error(`Unknown option: ${name}`);
  if (value === "" && name !== "hashpower") return error(`missing ${name} setting`);
  return option(rig, value);
}

/** Whether this option with this value is a write. */
export const changes = (name: string, value: string): boolean =>
  name !== "help" && !["", "get", "255", "1-255"].includes(value);
