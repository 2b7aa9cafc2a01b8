import { RigbridgeError } from "../../../contract/problems.ts";
import type { Identity } from "../../../contract/readings.ts";
import { isRecord } from "../../../contract/record.ts";
import { choice, type OfferedControl, range, toggle, trigger } from "../../controls.ts";
import { normalMac } from "../../identity.ts";
import { Notes, printable, TolerantReader } from "../../tolerant-reader.ts";
import { type HttpCall, type HttpTransport, jsonOf, words } from "../../transports/http.ts";
import { parseReply } from "../../transports/json.ts";
import { refusedWith } from "../../transports/limits.ts";
import { Memo } from "../shared/memo.ts";
import { redact, redacted } from "../shared/redact.ts";
import { pageOrNull, type WebInterface, type WebReport } from "../shared/rpc-and-web.ts";
import {
  asleep,
  type Config,
  fanOf,
  poolActionsOf,
  poolControls,
  wakingModeOf,
  withFan,
  withWorkMode,
  workModeOf,
  workModes,
} from "./config.ts";
import { boardsOf, fansOf, readingsOf } from "./readings.ts";

const refreshAfterMs = 30_000;

/** What only commands and people change. */
interface Slow {
  readonly config: Config | null;
  readonly blinks: boolean | null;
}

const stored = { lasting: true, restartsMining: true, seconds: 180 };

export class MaraWeb implements WebInterface {
  readonly takesCommands = true;
  readonly adds = "its MAC address, power and boards, and allow controlling it";
  readonly #http: HttpTransport;
  readonly #slow: Memo<Slow>;
  #identity: Partial<Identity> | undefined;
  /** The work mode in which it was last seen awake. */
  #awake: string | null = null;

  constructor(http: HttpTransport, monotonicNow: () => number) {
    this.#http = http;
    this.#slow = new Memo(refreshAfterMs, monotonicNow);
  }

  forget(): void {
    this.#slow.forget();
    this.#identity = undefined;
  }

  async read(signal: AbortSignal, notes: Notes): Promise<WebReport> {
    this.#identity ??= await this.#readIdentity(signal, notes);
    const brief = new TolerantReader(await this.#get("brief", signal), notes, "brief");
    const kept = this.#slow.isFresh ? this.#slow.value : undefined;
    const slow = kept ?? this.#slow.keep(await this.#readSlow(signal, notes));
    const { config, blinks } = slow;
    const boards = boardsOf(await this.#page("boards", "hashboards", signal, notes));
    const fans = fansOf(await this.#page("fans", "fans", signal, notes));
    const mode = config === null ? null : workModeOf(config);
    if (mode !== null && mode !== asleep) this.#awake = mode;
    return {
      identity: this.#identity,
      offered: this.#offers(config, blinks),
      readings: { ...readingsOf({ brief, config, boards, fans }), mode, locate: blinks },
      asleep: mode === asleep,
      pools:
        config === null
          ? null
          : {
              listed: (running) => [...running],
              actions: poolActionsOf(config),
              controls: poolControls(this.#http.at, (edit, short) => this.#change(edit, short)),
              seconds: stored.seconds,
            },
    };
  }

  async #readIdentity(signal: AbortSignal, notes: Notes): Promise<Partial<Identity>> {
    const overview = new TolerantReader(await this.#get("overview", signal), notes, "overview");
    const network = await pageOrNull("network", this.#get("network_config", signal), notes);
    return {
      model: overview.text("model"),
      firmware: overview.text("version_firmware"),
      mac: normalMac(overview.text("mac")),
      hostname: new TolerantReader(network ?? undefined, notes, "network").text("hostname"),
    };
  }

  async #readSlow(signal: AbortSignal, notes: Notes): Promise<Slow> {
    const config = await pageOrNull("configuration", this.#get("miner_config", signal), notes);
    return {
      config: isRecord(config) ? config : null,
      blinks: (await this.#page("light", "locate_miner", signal, notes)).boolean("blinking"),
    };
  }

  /** Without fields where it is missing or broken. */
  async #page(what: string, name: string, signal: AbortSignal, notes: Notes): Promise<TolerantReader> {
    return new TolerantReader((await pageOrNull(what, this.#get(name, signal), notes)) ?? undefined, notes, what);
  }

  #offers(config: Config | null, blinks: boolean | null): OfferedControl[] {
    const command = (name: string, body: object, done: string, signal: AbortSignal): Promise<string> =>
      this.#post(name, body, done, signal);
    const mode = config === null ? null : workModeOf(config);
    const fan = config === null ? null : fanOf(config);
    const starting = { lasting: false, restartsMining: true, seconds: 240 };
    const mining: OfferedControl = {
      control: toggle("mining", mode !== asleep, { ...stored, restartsMining: false }),
      set: (on, signal) =>
        on === true ? this.#wake(signal) : this.#change((known) => withWorkMode(known, asleep), signal),
    };
    const ofMode: OfferedControl = {
      control: choice("mode", workModes, mode !== null && workModes.includes(mode) ? mode : null, stored),
      set: (wanted, signal) => this.#change((known) => withWorkMode(known, String(wanted)), signal),
    };
    const ofFan: OfferedControl = {
      control: range("fan", { unit: "%", min: 0, max: 100, step: 1, value: fan, options: ["auto"] }, stored),
      set: (wanted, signal) =>
        this.#change((known) => withFan(known, typeof wanted === "number" ? wanted : null), signal),
    };
    const light: OfferedControl = {
      control: toggle("locate", blinks, { lasting: false, restartsMining: false, seconds: 5 }),
      set: (on, signal) => command("locate_miner", { blinking: on }, on === true ? "blinking" : "dark", signal),
    };
    return [
      ...(mode === null ? [] : [mining]),
      // Asleep, choosing one would wake it.
      ...(mode === null || mode === asleep ? [] : [ofMode]),
      ...(fan === null ? [] : [ofFan]),
      ...(blinks === null ? [] : [light]),
      {
        control: trigger("restart", { ...starting, seconds: 180 }),
        set: (_, signal) => command("maintenance", { type: "reload" }, "restarting mining", signal),
      },
      {
        control: trigger("reboot", starting),
        set: (_, signal) => command("maintenance", { type: "reboot" }, "rebooting", signal),
      },
    ];
  }

  async #wake(signal: AbortSignal): Promise<string> {
    let mode = "";
    const said = await this.#change((known) => {
      mode = this.#awake ?? wakingModeOf(known);
      return withWorkMode(known, mode);
    }, signal);
    return `${said}; it wakes into the mode ${mode}`;
  }

  /** Reads the configuration, changes it and writes it whole, as the rig requires. */
  async #change(edit: (config: Config) => Config, signal: AbortSignal): Promise<string> {
    const read = await this.#get("miner_config", signal, true);
    if (!isRecord(read) || workModeOf(read) === null)
      throw new RigbridgeError("rig.garbled", `${this.#http.at}: its configuration could not be read`);
    const changed = edit(read);
    this.#slow.forget();
    const pools = Array.isArray(changed.pools) ? changed.pools : [];
    const secrets = pools.map((pool: unknown) => (isRecord(pool) ? pool.pass : null));
    return this.#post("miner_config", changed, "stored", signal, secrets);
  }

  async #get(name: string, signal: AbortSignal, ofCommand?: true): Promise<unknown> {
    const call: HttpCall = { method: "GET", path: pathOf(name), ...(ofCommand === undefined ? {} : { ofCommand }) };
    return jsonOf(this.#http.at, call, await this.#http.send(call, signal)).value;
  }

  /** Resolves with the rig's words, or `done` where it has none. Throws `rig.refused` where it answers with an error. */
  async #post(
    name: string,
    body: object,
    done: string,
    signal: AbortSignal,
    secrets: readonly unknown[] = [],
  ): Promise<string> {
    const call: HttpCall = { method: "POST", path: pathOf(name), body, ofCommand: true };
    const { body: answer } = await this.#http.send(call, signal).catch((error: unknown) => {
      throw redacted(error, secrets);
    });
    const parsed = parseReply(answer);
    const reply = new TolerantReader("value" in parsed ? parsed.value : undefined, new Notes(), "");
    const said = printable(redact(reply.text("msg") ?? words(answer), secrets));
    if (reply.boolean("error") === true)
      throw refusedWith("rig.refused", `${this.#http.at} refused "${name}"`, said || "without a reason");
    return said || done;
  }
}

const pathOf = (name: string): string => `/kaonsu/v1/${name}`;
