import type { ControlKey, ControlValue } from "../../../contract/readings.ts";
import { type OfferedControl, trigger } from "../../controls.ts";
import type { Driver, PoolControls, Reading, Rig } from "../../driver.ts";
import type { Link } from "../../link.ts";
import { OfferedControls } from "../shared/offered-controls.ts";
import { type ProgramPage, readingOf, readPage, recognisePage } from "../shared/program.ts";
import { redacted } from "../shared/redact.ts";
import { report } from "./statistics.ts";

/**
 * SRBMiner-MULTI's HTTP API (--api-enable). A GET of a secret path (--api-miner-restart-url, its token here) restarts it.
 * Nothing in the API shows whether it has that path, so a wrong token appears only when it is used. The paths that restart
 * or shut down the computer are never requested. Source: SRBMiner's documents, 3.4.
 */
export const srbminer: Driver = {
  id: "srbminer",
  name: "SRBMiner-MULTI",
  evidence: { readings: "vendor document", controls: "vendor document" },
  ports: [21_550],
  login: { keys: ["token"], adds: "restarted" },
  recognise: (signs) => recognisePage(signs, page),
  connect: (link) => new SrbminerRig(link),
};

const page: ProgramPage = {
  path: "/",
  isIts: (statistics) => statistics.has("miner_version") && statistics.isList("algorithms"),
  report,
};

class SrbminerRig implements Rig {
  readonly quick = true;
  readonly pools: PoolControls = {};
  readonly #link: Link;
  readonly #offered = new OfferedControls();

  constructor(link: Link) {
    this.#link = link;
  }

  async read(signal: AbortSignal): Promise<Reading> {
    const read = await readPage(this.#link, page, signal);
    return { ...readingOf(read.report, read.notes), controls: this.#offered.offer(this.#restart()) };
  }

  set(key: ControlKey, value: ControlValue, signal: AbortSignal): Promise<string> {
    return this.#offered.set(this, key, value, signal);
  }

  close(): void {
    this.#link.http.close();
  }

  #restart(): OfferedControl[] {
    const { token } = this.#link.credentials;
    if (token === undefined || token === "") return [];
    const control = trigger("restart", { lasting: false, restartsMining: true, seconds: 60 });
    return [{ control, set: (_, signal) => this.#ask(token, signal) }];
  }

  async #ask(token: string, signal: AbortSignal): Promise<string> {
    try {
      await this.#link.http.send({ method: "GET", path: `/${encodeURIComponent(token.toWellFormed())}` }, signal);
      return "SRBMiner accepted";
    } catch (error) {
      throw redacted(error, [token, encodeURIComponent(token.toWellFormed())]);
    }
  }
}
