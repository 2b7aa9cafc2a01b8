import { RigbridgeError } from "../../../contract/problems.ts";
import type { Control, ControlKey, ControlValue } from "../../../contract/readings.ts";
import type { PoolControls, Reading, Rig } from "../../driver.ts";
import type { Link } from "../../link.ts";
import { Notes, TolerantReader } from "../../tolerant-reader.ts";
import { cgminer } from "../cgminer/index.ts";
import { webControls } from "./controls.ts";
import { type Report, reportOfWeb } from "./stats.ts";

const loginNote =
  "read without a login; the user name and password of its web page add its MAC address, host name and faults, and allow rebooting and locating it, changing its pools and fan, and putting newer firmware to sleep";

/** A question about firmware: whether its newer statistics report more than the older ones. */
const newerStatistics = "newer statistics";
/** Of a read's time, for the newer statistics. */
const statsShare = 0.3;

/** An Antminer without a configured login: readings and, rarely, controls over its RPC. */
export class AntminerByRpc implements Rig {
  readonly #link: Link;
  readonly #rig: Rig;
  #controls: readonly Control[] = [];
  /** Whether its RPC has answered: then a failure is temporary, and not for want of a login. */
  #hasAnswered: boolean;
  /** Whether its newer statistics report more than the older ones; undefined before they were read. */
  #reportsMore: boolean | undefined;

  constructor(link: Link) {
    this.#link = link;
    this.#hasAnswered = link.wasRead;
    this.#rig = cgminer.connect(link);
  }

  async read(signal: AbortSignal): Promise<Reading> {
    const reading = await this.#rig.read(signal).catch(async (error: unknown) => {
      throw signal.aborted || this.#hasAnswered ? error : await this.#reason(error, signal);
    });
    this.#hasAnswered = true;
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

  /** Newer statistics may report the power, and the coolant's temperatures of a rig without fans. */
  async #newer(model: string | null, signal: AbortSignal): Promise<Report["readings"] | null> {
    this.#reportsMore ??= this.#link.firmware.has(newerStatistics);
    if (this.#reportsMore === false || this.#link.pace.isSlow) return null;
    const short = AbortSignal.any([signal, AbortSignal.timeout(this.#link.pace.partMs(statsShare))]);
    try {
      const { value } = await this.#link.rpc.ask({ command: "stats", new_api: true }, short);
      const [first] = new TolerantReader(value, new Notes(), "").list("STATS");
      const report = reportOfWeb(value, [], new Notes(), model);
      const { power, temperatureIn } = report.readings;
      this.#reportsMore =
        first?.has("chain") === true && (first.has("watt") || power !== null || temperatureIn !== null);
      this.#link.firmware.keep(newerStatistics, this.#reportsMore);
      return this.#reportsMore ? report.readings : null;
    } catch (error) {
      if (!(error instanceof RigbridgeError) || signal.aborted) throw error;
      this.#reportsMore ??= false;
      return null;
    }
  }

  async set(key: ControlKey, value: ControlValue, signal: AbortSignal): Promise<string> {
    const offered = this.#controls.some((control) => control.key === key);
    if (!offered && webControls.includes(key)) {
      throw this.#login("can be controlled only over its web interface, and no login for that is configured");
    }
    return this.#rig.set(key, value, signal);
  }

  get pools(): PoolControls {
    return this.#rig.pools;
  }

  doubt(): void {
    this.#reportsMore = undefined;
    this.#rig.doubt?.();
  }

  close(): void {
    this.#rig.close();
    this.#link.http.close();
  }

  /** Where the RPC is closed, the web interface may still require a login. */
  async #reason(error: unknown, signal: AbortSignal): Promise<unknown> {
    try {
      const { status } = await this.#link.http.call({ method: "GET", path: "/cgi-bin/get_system_info.cgi" }, signal);
      if (status !== 401) return error;
      return this.#login("does not answer RPC, its web interface requires a login, and none is configured");
    } catch {
      return error;
    }
  }

  #login(words: string): RigbridgeError {
    return new RigbridgeError("rig.login", `${this.#link.http.at} ${words}`);
  }
}
