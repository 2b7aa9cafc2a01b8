import { RigbridgeError } from "../../../contract/problems.ts";
import type { ControlKey, ControlValue, Identity } from "../../../contract/readings.ts";
import { type OfferedControl, toggle, trigger } from "../../controls.ts";
import type { Driver, PoolControls, Question, Reading, Rig, Signs } from "../../driver.ts";
import type { Link } from "../../link.ts";
import type { Pace } from "../../pace.ts";
import { Notes } from "../../tolerant-reader.ts";
import { garbled } from "../../transports/limits.ts";
import { type LineTransport, lineRequest } from "../../transports/lines.ts";
import type { DeviceReply } from "../../transports/rpc.ts";
import { acceptedLine, lineReplyOf, mayAnswerLines, passwordOf } from "../shared/line-replies.ts";
import { OfferedControls } from "../shared/offered-controls.ts";
import { readingOf } from "../shared/program.ts";
import { type ClaymoreReport, programOf, reportOf, type Statistics, statisticsOf } from "./statistics.ts";

/**
 * The API of Claymore's miners over TCP, which PhoenixMiner and TT-Miner have too. It cannot change pools. It does not show
 * whether it accepts commands: a read-only program does not answer them, and only the next read shows the result.
 * Sources: Claymore's API.txt, PhoenixMiner's readme. Its `miner_file` and `miner_reboot` are never sent.
 */
export const claymore: Driver = {
  id: "claymore",
  name: "Claymore API (PhoenixMiner, TT-Miner)",
  evidence: { readings: "vendor document", controls: "vendor document" },
  ports: [3333],
  recognise: (signs) => recognise(signs),
  connect: (link) => new ClaymoreRig(link),
};

const basic = "miner_getstat1";
const detailed = "miner_getstat2";

function recognise(signs: Signs): Partial<Identity> | Question | undefined {
  if (!mayAnswerLines(signs)) return undefined;
  if (signs.lines === undefined || !Object.hasOwn(signs.lines, basic)) return { line: basic };
  const statistics = statisticsOf(lineReplyOf(signs.lines[basic])?.result);
  return statistics === undefined ? undefined : { make: programOf(statistics).make };
}

/** Of a read's time, for the first request for the longer statistics: some programs do not answer unknown methods. */
const sideShare = 0.3;
/** Timeout of the answer to a command, since many programs send none. */
const answerTimeoutMs = 2_000;

class ClaymoreRig implements Rig {
  readonly quick = true;
  readonly pools: PoolControls = {};
  readonly #lines: LineTransport;
  readonly #pace: Pace;
  readonly #password: string | undefined;
  readonly #offered = new OfferedControls();
  /** Whether it has the longer statistics; null before it was asked. */
  #isDetailed: boolean | null = null;
  /** s, at the last read. */
  #uptime: number | null = null;
  /** Whether it has mined two coins at once since it started: resumed cards then return to that. */
  #isDual = false;

  constructor({ lines, credentials, pace }: Pick<Link, "lines" | "credentials" | "pace">) {
    this.#lines = lines;
    this.#pace = pace;
    this.#password = passwordOf(credentials);
  }

  async read(signal: AbortSignal): Promise<Reading> {
    const notes = new Notes();
    const statistics = await this.#statistics(signal, notes);
    const report = reportOf(statistics, notes);
    this.#noticeRestart(report);
    const reading = readingOf(report, notes);
    return {
      ...reading,
      // It does not name its cards.
      identity: { ...reading.identity, model: null },
      software: report.program.software,
      controls: this.#offered.offer(this.#offers(report)),
    };
  }

  set(key: ControlKey, value: ControlValue, signal: AbortSignal): Promise<string> {
    return this.#offered.set(this, key, value, signal);
  }

  close(): void {
    this.#lines.close();
  }

  /** Another version may answer after a restart. */
  #noticeRestart({ readings: { uptime = null, dual = null } }: ClaymoreReport): void {
    if (uptime !== null && this.#uptime !== null && uptime < this.#uptime) {
      this.#isDetailed = null;
      this.#isDual = false;
    }
    this.#uptime = uptime;
    this.#isDual ||= dual !== null;
  }

  async #statistics(signal: AbortSignal, notes: Notes): Promise<Statistics> {
    if (this.#isDetailed === true) return this.#ask(detailed, signal, notes);
    const short = await this.#ask(basic, signal, notes);
    if (this.#isDetailed === false) return short;
    try {
      const full = await this.#ask(
        detailed,
        AbortSignal.any([signal, AbortSignal.timeout(this.#pace.partMs(sideShare))]),
        notes,
      );
      this.#isDetailed = true;
      return full;
    } catch (error) {
      if (!(error instanceof RigbridgeError)) throw error;
      this.#isDetailed = false;
      return short;
    }
  }

  async #ask(method: string, signal: AbortSignal, notes: Notes): Promise<Statistics> {
    const { value, notes: repairs } = await this.#send(method, undefined, signal);
    const statistics = statisticsOf(acceptedLine(this.#lines.at, method, value));
    if (statistics === undefined) throw garbled(this.#lines.at, `answered "${method}" without statistics`);
    notes.addAll(repairs);
    return statistics;
  }

  async #send(method: string, params: readonly string[] | undefined, signal: AbortSignal): Promise<DeviceReply> {
    const psw = this.#password === undefined ? {} : { psw: this.#password };
    const request = lineRequest(method, { ...psw, ...(params === undefined ? {} : { params }) });
    const [reply] = await this.#lines.ask([request], signal);
    if (reply === undefined) throw garbled(this.#lines.at, `gave no answer to "${method}"`);
    return reply;
  }

  #offers({ program: { controls }, cardsOff }: ClaymoreReport): OfferedControl[] {
    if (controls === "none" || cardsOff.length === 0) return [];
    const effect = { lasting: false, restartsMining: false, seconds: 10 };
    const switchCard = (card: string) => (on: ControlValue, signal: AbortSignal) =>
      this.#tell("control_gpu", [card, on === true ? (this.#isDual ? "2" : "1") : "0"], signal);
    const offered: OfferedControl[] = [
      { control: toggle("mining", !cardsOff.every((off) => off), effect), set: switchCard("-1") },
    ];
    if (controls === "all") {
      offered.push({
        control: trigger("restart", { lasting: false, restartsMining: true, seconds: 60 }),
        set: (_, signal) => this.#tell("miner_restart", undefined, signal),
      });
    }
    for (const [card, off] of cardsOff.entries()) {
      offered.push({ control: toggle(`board_${card}`, !off, effect), set: switchCard(String(card)) });
    }
    return offered;
  }

  /** Sent once. A missing answer is not an error, since many commands have none; the next read shows the result. */
  async #tell(method: string, params: readonly string[] | undefined, signal: AbortSignal): Promise<string> {
    try {
      const within = AbortSignal.any([signal, AbortSignal.timeout(answerTimeoutMs)]);
      const { value } = await this.#send(method, params, within);
      if (lineReplyOf(value)?.error) acceptedLine(this.#lines.at, method, value);
      return "The program answered the command";
    } catch (error) {
      const isSilent =
        error instanceof RigbridgeError && (error.code === "rig.garbled" || error.code === "rig.timeout");
      if (!isSilent || signal.aborted) throw error;
      return "The program received the command and did not answer";
    }
  }
}
