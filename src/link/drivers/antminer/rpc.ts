import { RigbridgeError } from "../../../contract/problems.ts";
import type { Control, ControlKey, ControlValue } from "../../../contract/readings.ts";
import type { PoolControls, Reading, Rig } from "../../driver.ts";
import type { Link } from "../../link.ts";
import { Notes, TolerantReader } from "../../tolerant-reader.ts";
import { cgminer } from "../cgminer/index.ts";
import { webControls } from "./controls.ts";
import { type Report, reportOfWeb } from "./stats.ts";

const loginNote =
  "read without a login; the user name and password of its web page add its MAC address, host name and faults, and let it be rebooted and found, its pools and fan be changed, and newer firmware be put to sleep";

/** For the newer statistics. */
const statsTimeoutMs = 1_500;

/** An Antminer to which no login was given: what its RPC says and, rarely, allows. */
export class AntminerByRpc implements Rig {
  readonly #link: Link;
  readonly #rig: Rig;
  #controls: readonly Control[] = [];
  /** Whether its newer statistics say what the older ones do not; undefined until they were asked for. */
  #saysMore: boolean | undefined;

  constructor(link: Link) {
    this.#link = link;
    this.#rig = cgminer.connect(link);
  }

  async read(signal: AbortSignal): Promise<Reading> {
    const reading = await this.#rig.read(signal).catch(async (error: unknown) => {
      throw signal.aborted ? error : await this.#reason(error, signal);
    });
    this.#controls = reading.controls;
    const { power, powerSource, temperatureIn, temperatureOut } =
      (await this.#newer(reading.identity.model, signal)) ?? reading.readings;
    const notes = [...reading.readings.notes, loginNote];
    return {
      ...reading,
      readings: { ...reading.readings, power, powerSource, temperatureIn, temperatureOut, notes },
      locked: { why: "login missing", text: loginNote },
    };
  }

  /** Newer statistics tell the watts of a rig that knows them, and the coolant of one without fans. */
  async #newer(model: string | null, signal: AbortSignal): Promise<Report["readings"] | null> {
    if (this.#saysMore === false) return null;
    const short = AbortSignal.any([signal, AbortSignal.timeout(statsTimeoutMs)]);
    try {
      const { value } = await this.#link.rpc.ask({ command: "stats", new_api: true }, short);
      const [said] = new TolerantReader(value, new Notes(), "").list("STATS");
      const report = reportOfWeb(value, [], new Notes(), model);
      const { power, temperatureIn } = report.readings;
      this.#saysMore = said?.has("chain") === true && (said.has("watt") || power !== null || temperatureIn !== null);
      return this.#saysMore ? report.readings : null;
    } catch (error) {
      if (!(error instanceof RigbridgeError) || signal.aborted) throw error;
      this.#saysMore ??= false;
      return null;
    }
  }

  async set(key: ControlKey, value: ControlValue, signal: AbortSignal): Promise<string> {
    const offered = this.#controls.some((control) => control.key === key);
    if (!offered && webControls.includes(key)) {
      throw this.#login("lets itself be steered only over its web page, and no login for that was given");
    }
    return this.#rig.set(key, value, signal);
  }

  get pools(): PoolControls {
    return this.#rig.pools;
  }

  doubt(): void {
    this.#saysMore = undefined;
    this.#rig.doubt?.();
  }

  close(): void {
    this.#rig.close();
    this.#link.http.close();
  }

  /** Where the RPC is closed the web may still say that it wants a login. */
  async #reason(error: unknown, signal: AbortSignal): Promise<unknown> {
    try {
      const { status } = await this.#link.http.call({ method: "GET", path: "/cgi-bin/get_system_info.cgi" }, signal);
      if (status !== 401) return error;
      return this.#login("does not answer RPC, and shows its web page only to who logs in; no login was given");
    } catch {
      return error;
    }
  }

  #login(words: string): RigbridgeError {
    return new RigbridgeError("rig.login", `${this.#link.http.at} ${words}`);
  }
}
