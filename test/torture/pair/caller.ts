import { setTimeout as pause } from "node:timers/promises";
import { z } from "zod";
import type { Member } from "./member.ts";

/** What became of a request with a key, repeated until an answer said so. */
export type Outcome =
  | { readonly is: "done"; readonly body: unknown }
  /** No answer has left it open: nothing was done. */
  | { readonly is: "refused" }
  /** An answer that is not a success, and says what it is; `isSure`: also that no earlier try has done anything. */
  | { readonly is: "failed"; readonly code: string; readonly message: string }
  | { readonly is: "unknown" };

const Problem = z.object({ code: z.string(), message: z.string() });

/** Of one try. */
const tryMs = 8_000;
/** Of all tries. */
const patienceMs = 40_000;
const againMs = 150;

/** Nothing was done, and it may be asked again. */
const refusals: ReadonlySet<string> = new Set(["service.no.active", "service.not-ready"]);

/** Sends requests to the service that last was the active one, and to the other one when it is not. */
export class Caller {
  readonly #members: readonly Member[];
  readonly #isOver: () => boolean;
  #present: Member | undefined;

  constructor(members: readonly Member[], isOver: () => boolean) {
    this.#members = members;
    this.#isOver = isOver;
    this.#present = members[0];
  }

  /** The same request, by its key, until it is answered. `first`: which service is asked first. */
  async once(method: string, path: string, key: string, body?: object, first = this.#present): Promise<Outcome> {
    const until = performance.now() + patienceMs;
    let asked = first;
    let isOpen = false;
    for (;;) {
      const answer = await asked?.send(method, path, body, { headers: { "idempotency-key": key }, timeoutMs: tryMs });
      if (answer !== undefined && answer !== null && answer.status < 300) {
        this.#present = asked;
        return { is: "done", body: answer.body };
      }
      const problem = answer === null ? undefined : Problem.safeParse(answer?.body).data;
      if (problem === undefined || problem.code === "service.store-away" || answer?.status === 502) isOpen = true;
      else if (!refusals.has(problem.code)) return { is: "failed", ...problem };
      if (performance.now() > until || this.#isOver()) return { is: isOpen ? "unknown" : "refused" };
      asked = this.#members.find((each) => each !== asked);
      await pause(againMs);
    }
  }
}
