import { RigbridgeError } from "../../../contract/problems.ts";
import { Notes, TolerantReader } from "../../tolerant-reader.ts";
import { type HttpCall, type HttpTransport, jsonOf, refusal, words } from "../../transports/http.ts";
import { parseReply } from "../../transports/json.ts";
import { bitmainNames, configOf, documentOf, type FieldNames, formOf, type MinerConfig, sameConfig } from "./config.ts";

/**
 * Which web interface: `new` takes JSON, `old` (S9, S17 and their time) forms that its shell scripts read.
 * null: neither was recognised, and nothing is written, since the wrong form deletes the configuration.
 */
export type Generation = "new" | "old" | null;

const page = (name: string): string => `/cgi-bin/${name}.cgi`;

/** Older firmware answers only once it has stopped blinking. */
const blinkTimeoutMs = 4_000;

/** The web interface of Bitmain's firmware, and of others with the same pages, behind its login. */
export class AntminerWeb {
  readonly #http: HttpTransport;
  readonly #names: FieldNames;
  /** undefined before it was recognised. */
  #generation: Generation | undefined;
  /** Some firmware takes the mode in the other type than it reports it, and ignores that one. */
  #isModeTypeOther = false;

  constructor(http: HttpTransport, names = bitmainNames) {
    this.#http = http;
    this.#names = names;
  }

  get at(): string {
    return this.#http.at;
  }

  /** For another rig at this address. */
  forget(): void {
    this.#generation = undefined;
    this.#isModeTypeOther = false;
  }

  close(): void {
    this.#http.close();
  }

  /** By the pages that only one of them has. */
  async generation(signal: AbortSignal): Promise<Generation> {
    this.#generation ??= (await this.#has("summary", signal))
      ? "new"
      : (await this.#has("miner_summary", signal))
        ? "old"
        : null;
    return this.#generation;
  }

  async #has(name: string, signal: AbortSignal): Promise<boolean> {
    const call = { method: "GET", path: page(name) } as const;
    const reply = await this.#http.call(call, signal);
    if (reply.status === 404) return false;
    if (reply.status >= 300) throw refusal(this.at, call, reply);
    return true;
  }

  /** A page that reports. */
  ask(name: string, signal: AbortSignal, notes: Notes): Promise<unknown> {
    return this.#ask({ method: "GET", path: page(name) }, signal, notes);
  }

  async #ask(call: HttpCall, signal: AbortSignal, notes: Notes): Promise<unknown> {
    const reply = jsonOf(this.at, call, await this.#http.send(call, signal));
    notes.addAll(reply.notes);
    return reply.value;
  }

  config(signal: AbortSignal, notes = new Notes()): Promise<MinerConfig> {
    return this.#config({ method: "GET", path: page("get_miner_conf") }, signal, notes);
  }

  async #config(call: HttpCall, signal: AbortSignal, notes: Notes): Promise<MinerConfig> {
    const read = new TolerantReader(await this.#ask(call, signal, notes), notes, "configuration");
    return configOf(this.at, read, this.#names);
  }

  /** Reads the configuration, changes it and writes it whole, as the rig requires. Mining restarts. */
  async change(to: (config: MinerConfig) => MinerConfig, signal: AbortSignal): Promise<string> {
    const generation = await this.#known(signal);
    const read: HttpCall = { method: "GET", path: page("get_miner_conf"), ofCommand: true };
    const wanted = to(await this.#config(read, signal, new Notes()));
    const result = await this.#write(generation, wanted, signal);
    const after = await this.#reread(signal);
    if (after === null) return result || "stored";
    if (generation === "old" && result === "" && !sameConfig(after, wanted)) {
      throw new RigbridgeError("rig.busy", `${this.at} is applying another change and ignored this one; try again`);
    }
    if (generation === "new" && after.mode !== wanted.mode && !this.#isModeTypeOther) {
      this.#isModeTypeOther = true;
      return this.#write(generation, wanted, signal);
    }
    return result || "stored";
  }

  /** null when it does not answer: it may be restarting. */
  async #reread(signal: AbortSignal): Promise<MinerConfig | null> {
    try {
      return await this.config(signal);
    } catch (error) {
      if (error instanceof RigbridgeError && error.code !== "rig.timeout") return null;
      throw error;
    }
  }

  async #write(generation: "new" | "old", config: MinerConfig, signal: AbortSignal): Promise<string> {
    const call: HttpCall =
      generation === "old"
        ? { method: "POST", path: page("set_miner_conf"), form: formOf(config), ofCommand: true }
        : {
            method: "POST",
            path: page("set_miner_conf"),
            body: documentOf(config, config.modeIsText !== this.#isModeTypeOther),
            ofCommand: true,
          };
    const reply = await this.#http.send(call, signal);
    return generation === "old" ? reply.body.trim().slice(0, 200) : this.#taken(call, reply.body, "M000");
  }

  /** `{stats, code, msg}`; any other code than the one for success is a refusal. */
  #taken({ method, path }: HttpCall, body: string, success: string): string {
    const parsed = parseReply(body);
    const reply = new TolerantReader("value" in parsed ? parsed.value : undefined, new Notes(), "");
    const code = reply.text("code", 20);
    const result = reply.text("msg") ?? reply.text("stats") ?? "";
    if (code === success) return `${result || "stored"} (${code})`;
    const answer = code === null ? words(body) || "an answer without a code" : `${code} ${result}`.trim();
    throw new RigbridgeError("rig.refused", `${this.at} refused ${method} ${path}: ${answer}`);
  }

  /** Whether its light blinks; null where it is not reported. */
  async blinks(signal: AbortSignal, notes: Notes): Promise<boolean | null> {
    if ((await this.generation(signal)) === "old") {
      const call = { method: "POST", path: page("blink"), form: { action: "onPageLoaded" } } as const;
      const { value } = jsonOf(this.at, call, await this.#http.send(call, signal));
      return new TolerantReader(value, notes, "blink").boolean("isBlinking");
    }
    return new TolerantReader(await this.ask("get_blink_status", signal, notes), notes, "blink").boolean("blink");
  }

  async blink(on: boolean, signal: AbortSignal): Promise<string> {
    if ((await this.#known(signal)) === "new") {
      const call = { method: "POST", path: page("blink"), body: { blink: on }, ofCommand: true } as const;
      return this.#taken(call, (await this.#http.send(call, signal)).body, on ? "B000" : "B100");
    }
    const form = { action: on ? "startBlink" : "stopBlink" };
    const short = AbortSignal.any([signal, AbortSignal.timeout(blinkTimeoutMs)]);
    try {
      await this.#http.send({ method: "POST", path: page("blink"), form, ofCommand: true }, short);
    } catch (error) {
      const late = error instanceof RigbridgeError && error.code === "rig.timeout" && !signal.aborted;
      if (!late) throw error;
    }
    return on ? "blinking" : "no longer blinking";
  }

  async reboot(signal: AbortSignal): Promise<string> {
    const reply = await this.#http.send({ method: "GET", path: page("reboot"), ofCommand: true }, signal);
    return words(reply.body) || "rebooting";
  }

  async #known(signal: AbortSignal): Promise<"new" | "old"> {
    const generation = await this.generation(signal);
    if (generation !== null) return generation;
    throw new RigbridgeError("control.absent", `${this.at} has a web interface that is not supported`);
  }
}
