import { pause } from "../async/index.ts";
import { type ProblemCode, RigbridgeError } from "../contract/problems.ts";
import type { Site } from "./site.ts";

export type Place = Pick<Site, "id" | "name" | "isReached">;

interface Asking<Lost> {
  /** One whose result at this site is not known yet. */
  next(site: Place): Lost | undefined;
  /** Asks the site and notes the result, so that it is not the next one again. */
  ask(site: Place, lost: Lost): Promise<void>;
}

/** ms after which a site is asked again whose answer to that was lost, too. */
const againMs = 1_000;

/** After others, such as that of an older release which cannot be asked, the result stays unknown. */
const passing: ReadonlySet<ProblemCode> = new Set([
  "service.unreachable",
  "service.garbled",
  "service.not-ready",
  "request.timeout",
  "too.many",
]);

/** Asks sites for the results of requests whose answers were lost, one after another. */
export class LostAnswers<Lost> {
  readonly #asking: Asking<Lost>;
  /** Sites that are being asked. */
  readonly #asked = new Set<number>();
  readonly #closing = new AbortController();

  constructor(asking: Asking<Lost>) {
    this.#asking = asking;
  }

  /** Asks a site that is back. */
  async resolve(site: Place): Promise<void> {
    if (this.#asked.has(site.id)) return;
    this.#asked.add(site.id);
    try {
      // A site that is lost again is asked when it is back.
      for (let next = this.#next(site); next !== undefined && site.isReached; next = this.#next(site)) {
        if (!(await this.#isAnswered(site, next))) return;
      }
    } finally {
      this.#asked.delete(site.id);
    }
  }

  close(): void {
    this.#closing.abort();
  }

  #next(site: Place): Lost | undefined {
    return this.#closing.signal.aborted ? undefined : this.#asking.next(site);
  }

  /** False if the site does not say what the result is, and is not to be asked again. */
  async #isAnswered(site: Place, lost: Lost): Promise<boolean> {
    try {
      await this.#asking.ask(site, lost);
      return true;
    } catch (error) {
      if (!(error instanceof RigbridgeError)) throw error;
      if (!passing.has(error.code)) return false;
      await pause(againMs, this.#closing.signal);
      return true;
    }
  }
}

/** Whether a site may have done what it was asked, although its answer did not arrive. */
export const isLost = (error: unknown): boolean =>
  error instanceof RigbridgeError && (error.code === "service.unreachable" || error.code === "service.garbled");

/** Of a result that is not known yet. */
export const lostText = ({ name }: Pick<Site, "name">): string =>
  `The line to ${name} was lost before it answered; it is asked when it is back`;
