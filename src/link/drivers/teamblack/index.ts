import type { Driver, Reading } from "../../driver.ts";
import type { Link } from "../../link.ts";
import { type Notes, TolerantReader } from "../../tolerant-reader.ts";
import { NotOnDevice } from "../../transports/http.ts";
import { type ProgramPage, ReadOnlyProgram, readingOf, readPage, recognisePage } from "../shared/program.ts";
import { numbered, report } from "./report.ts";

/** Of 2.x; it has everything that is on three pages of 1.x. */
const summary: ProgramPage = {
  path: "/summary",
  isIts: (reply) => reply.has("miner") && (reply.has("devices") || reply.has("pool")),
  report: (reply) => report(reply.object("miner"), numbered(reply.object("pool")), reply.object("devices")),
};

/** Of 1.x. */
const miner: ProgramPage = {
  path: "/miner",
  isIts: (reply) => /^TBMiner\b/i.test(reply.text("name") ?? ""),
  report: (reply) => report(reply, [], new TolerantReader(undefined, reply.notes, "")),
};

/** Team Black Miner. Its API is off without --api, has no login and controls nothing. Source: the maker's documents. */
export const teamblack: Driver = {
  id: "teamblack",
  name: "Team Black Miner",
  evidence: { readings: "vendor document", controls: "vendor document" },
  ports: [4068],
  recognise: (signs) => recognisePage(signs, summary) ?? recognisePage(signs, miner),
  connect: (link) => new TeamBlackRig(link),
};

class TeamBlackRig extends ReadOnlyProgram {
  readonly #link: Link;

  constructor(link: Link) {
    super(link, summary);
    this.#link = link;
  }

  override async read(signal: AbortSignal): Promise<Reading> {
    try {
      return await super.read(signal);
    } catch (error) {
      if (error instanceof NotOnDevice) return this.#readPages(signal);
      throw error;
    }
  }

  /** Of 1.x. */
  async #readPages(signal: AbortSignal): Promise<Reading> {
    const { page, notes } = await readPage(this.#link, miner, signal);
    const threads = await this.#page("/threads", notes, signal);
    const pool = await this.#page("/pool", notes, signal);
    return readingOf(report(page, [pool], threads), notes);
  }

  async #page(path: string, notes: Notes, signal: AbortSignal): Promise<TolerantReader> {
    const { value, notes: repairs } = await this.#link.http.getJson(path, signal);
    notes.addAll(repairs);
    return new TolerantReader(value, notes, path);
  }
}
