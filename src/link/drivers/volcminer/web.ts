import { RigbridgeError } from "../../../contract/problems.ts";
import type { Identity } from "../../../contract/readings.ts";
import { type OfferedControl, toggle, trigger } from "../../controls.ts";
import { normalMac } from "../../identity.ts";
import { Notes, TolerantReader } from "../../tolerant-reader.ts";
import { type HttpCall, type HttpTransport, jsonOf, words } from "../../transports/http.ts";
import { parseReply } from "../../transports/json.ts";
import { asleep, type ConfiguredPool, configuredPools, poolFields, poolsOf, scriptForm } from "../antminer/config.ts";
import { stored } from "../antminer/controls.ts";
import { listActions, listPools } from "../antminer/pools.ts";
import { Memo } from "../shared/memo.ts";
import { pageOrNull, type WebInterface, type WebReport } from "../shared/rpc-and-web.ts";

/** Its configuration, which is written whole. */
interface Config {
  readonly pools: readonly ConfiguredPool[];
  /** 0 runs; `stoppedMode` does not. */
  readonly runMode: string;
  readonly voltage: string;
  readonly debug: boolean;
  /** Everything else, written back unchanged. */
  readonly rest: TolerantReader;
}

const runningMode = "0";
const stoppedMode = "-1";

const needed = ["freq", "coin-type", "sram-voltage"];
const fanFields = ["fan-pwm-front", "fan-pwm-back"];

const page = (name: string): string => `/cgi-bin/${name}.cgi`;

/** Between two reads of the configuration, which only commands and people change. */
const refreshAfterMs = 30_000;

export class VolcminerWeb implements WebInterface {
  readonly takesCommands = true;
  readonly adds = "its MAC address and host name, and allow stopping and rebooting it and changing its pools";
  readonly #http: HttpTransport;
  readonly #config: Memo<Config>;
  /** The run mode in which it last ran. */
  #running = runningMode;
  #identity: Partial<Identity> | undefined;

  constructor(http: HttpTransport, monotonicNow: () => number) {
    this.#http = http;
    this.#config = new Memo(refreshAfterMs, monotonicNow);
  }

  forget(): void {
    this.#config.forget();
    this.#identity = undefined;
  }

  async read(signal: AbortSignal, notes: Notes): Promise<WebReport> {
    this.#identity ??= await systemOf(this.#http, signal, notes);
    const config = await this.#known(signal, notes);
    if (config === null) return { identity: this.#identity, offered: [rebootOf(this.#http, "POST")], pools: null };
    const { pools, runMode } = config;
    const isStopped = runMode === stoppedMode;
    if (!isStopped) this.#running = runMode;
    return {
      identity: this.#identity,
      offered: [this.#mining(!isStopped), rebootOf(this.#http, "POST")],
      pools: {
        listed: (running) => poolsOf({ pools, mode: isStopped ? asleep : 0 }, running),
        actions: listActions({ pools }),
        controls: listPools((to, short) => this.#change((known) => ({ ...known, pools: to(known.pools) }), short)),
        seconds: stored.seconds,
      },
    };
  }

  /** null, with a note, where the page is missing or broken. */
  async #known(signal: AbortSignal, notes: Notes): Promise<Config | null> {
    const kept = this.#config.isFresh ? this.#config.value : undefined;
    if (kept !== undefined) return kept;
    const read = await pageOrNull("configuration", this.#read(signal, notes), notes);
    return read === null ? null : this.#config.keep(read);
  }

  #mining(runs: boolean): OfferedControl {
    return {
      control: toggle("mining", runs, stored),
      set: (on, signal) =>
        this.#change((config) => ({ ...config, runMode: on === true ? this.#running : stoppedMode }), signal),
    };
  }

  async #read(signal: AbortSignal, notes: Notes, ofCommand?: true): Promise<Config> {
    const call = (name: string): HttpCall => ({
      method: "GET",
      path: page(name),
      ...(ofCommand === undefined ? {} : { ofCommand }),
    });
    const known = jsonOf(this.#http.at, call("get_miner_conf"), await this.#http.send(call("get_miner_conf"), signal));
    const rest = new TolerantReader(known.value, notes, "configuration");
    const { body } = await this.#http.send(call("get_miner_confV1"), signal);
    const [runMode, voltage] = [fieldIn(body, "runmode"), fieldIn(body, "voltage")];
    const isManual = rest.boolean("fan-ctrl") === true;
    const missing = [...needed, ...(isManual ? fanFields : [])].find((key) => rest.text(key) === null);
    // Written without them, the rig would be set to others.
    if (runMode === null || voltage === null || missing !== undefined)
      throw new RigbridgeError(
        "rig.garbled",
        `${this.#http.at}: its configuration names no ${missing ?? (runMode === null ? "run mode" : "voltage")}`,
      );
    const debug = fieldIn(body, "bb_debug_enable") === "true";
    return { pools: configuredPools(this.#http.at, rest), runMode, voltage, debug, rest };
  }

  /** Reads the configuration, changes it and writes it whole, as the rig requires. Mining restarts. */
  async #change(to: (config: Config) => Config, signal: AbortSignal): Promise<string> {
    const form = formOf(to(await this.#read(signal, new Notes(), true)));
    this.#config.forget();
    const call = { method: "POST", path: page("set_miner_conf"), form, ofCommand: true } as const;
    return taken(this.#http.at, call, (await this.#http.send(call, signal)).body);
  }
}

/** The identity on its page of the system. */
export async function systemOf(http: HttpTransport, signal: AbortSignal, notes: Notes): Promise<Partial<Identity>> {
  const { value } = await http.getJson(page("get_system_info"), signal);
  const system = new TolerantReader(value, notes, "system");
  return {
    model: system.text("minertype"),
    firmware: system.text("system_filesystem_version"),
    mac: normalMac(system.text("macaddr")),
    hostname: system.text("hostname"),
  };
}

export const rebootOf = (http: HttpTransport, method: "GET" | "POST"): OfferedControl => ({
  control: trigger("reboot", { lasting: false, restartsMining: true, seconds: 240 }),
  set: async (_, signal) => {
    const { body } = await http.send({ method, path: page("reboot"), ofCommand: true }, signal);
    return words(body) || "rebooting";
  },
});

/** A field of a page whose JSON stands in texts with quotes that are not escaped; null where it is missing. */
const fieldIn = (body: string, name: string): string | null =>
  new RegExp(`"${name}"\\s*:\\s*"?(-?[\\w.]+)`).exec(body)?.[1] ?? null;

/** The fields in this order, as the rig's own page sends them. */
function formOf({ pools, runMode, voltage, debug, rest }: Config): Record<string, string> {
  const manual = rest.boolean("fan-ctrl") ?? false;
  return scriptForm({
    ...poolFields("_bb_", pools),
    _bb_nobeeper: String(rest.boolean("nobeeper") ?? false),
    _bb_notempoverctrl: String(rest.boolean("notempoverctrl") ?? false),
    _bb_fan_customize_switch: String(manual),
    _bb_fan_customize_value_front: manual ? (rest.text("fan-pwm-front") ?? "") : "",
    _bb_fan_customize_value_back: manual ? (rest.text("fan-pwm-back") ?? "") : "",
    _bb_freq: rest.text("freq") ?? "",
    _bb_coin_type: rest.text("coin-type") ?? "",
    _bb_runmode: runMode,
    _bb_voltage_customize_value: voltage,
    _bb_ema: rest.text("sram-voltage") ?? "",
    _bb_debug: String(debug),
  });
}

/** Its words. Throws `rig.refused` where it answers with another code than that of success. */
function taken(at: string, { method, path }: HttpCall, body: string): string {
  const parsed = parseReply(body);
  const reply = new TolerantReader("value" in parsed ? parsed.value : undefined, new Notes(), "");
  const code = reply.text("code", 20);
  const result = reply.text("msg") ?? words(body);
  if (code === null || code === "200") return result || "stored";
  throw new RigbridgeError("rig.refused", `${at} refused ${method} ${path}: ${`${code} ${result}`.trim()}`);
}
