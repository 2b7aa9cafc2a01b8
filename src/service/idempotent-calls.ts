import { createHash } from "node:crypto";
import { z } from "zod";
import { CodedText } from "../contract/coded-text.ts";
import { operations } from "../contract/operations.ts";
import { type ProblemCode, problems, RigbridgeError } from "../contract/problems.ts";
import type { ActionReply } from "../contract/resources.ts";
import { withoutSecrets } from "../contract/secrets.ts";
import type { CallName } from "../contract/service.ts";
import { type IdempotencyLog, type KeyedRequest, MayBeStored, type RequestKey } from "../store/index.ts";
import { keyReused, requestKeyOf } from "./request-key.ts";
import type { Once } from "./users/guard.ts";

/** Characters of the longest answer that is kept. */
const longestAnswer = 256_000;

/** Operations that change nothing before a command or a run is stored, which is bound to the key. */
const onlyStarts: ReadonlySet<CallName> = new Set(["minerAction", "minerPoolAction", "startBulkAction", "locatePlace"]);

/**
 * Operations of which nothing is to be seen anywhere before their first write is stored, so that their key can be stored
 * with it. All others reach something else first, such as a channel or a broker that is tried.
 */
const storesFirst: ReadonlySet<CallName> = new Set([
  ...onlyStarts,
  ...(["addMiner", "changeMiner", "deleteMiner", "addMinerNote", "addGroup", "changeGroup", "deleteGroup"] as const),
  ...(["addPlace", "changePlace", "deletePlace"] as const),
  ...(["savePool", "deletePool", "savePoolGroup", "deletePoolGroup", "saveCoin", "deleteCoin"] as const),
  ...(["addRule", "changeRule", "deleteRule", "addSchedule", "changeSchedule", "deleteSchedule"] as const),
  ...(["addCurtailmentPlan", "changeCurtailmentPlan", "deleteCurtailmentPlan"] as const),
  ...(["addMaintenance", "deleteMaintenance", "saveManagedTemplate", "deleteManagedTemplate"] as const),
  ...(["addChannel", "changeChannel", "deleteChannel", "saveUser", "deleteUser"] as const),
]);

/** Errors of requests that may have done something. All others refuse a request, which may be sent again. */
const unclear: ReadonlySet<number> = new Set([500, 502, 504]);

/** A request that is running, or its reply. */
interface Running {
  readonly request: string;
  readonly reply: Promise<unknown>;
}

/**
 * Does each write with an `Idempotency-Key` once. A repeat with the same key waits for the first request or gets its
 * answer again. The key is stored with what is done first, or before it, and the answer afterwards; if the service stops in
 * between, the repeat is answered with the command that was bound to the key, or with `idempotency.unknown`.
 */
export class IdempotentCalls {
  readonly #log: IdempotencyLog;
  readonly #running = new Map<string, Running>();

  constructor(log: IdempotencyLog) {
    this.#log = log;
  }

  readonly once: Once = async (name, input, caller, work) => {
    const of = requestKeyOf(caller);
    if (of === undefined || operations[name].method === "GET") return work();
    const replayed = () => caller.idempotency?.replayed?.();
    // With the key, so that a short password cannot be guessed by its digest.
    const request = createHash("sha256")
      .update(JSON.stringify([of.key, name, input]))
      .digest("hex");
    const id = `${of.caller} ${of.key}`;
    const running = this.#running.get(id);
    if (running !== undefined) {
      if (running.request !== request) throw keyReused();
      replayed();
      return running.reply;
    }
    const reply = this.#reply(name, { of, request, work, replayed });
    this.#running.set(id, { request, reply });
    try {
      return await reply;
    } finally {
      this.#running.delete(id);
    }
  };

  async #reply(name: CallName, { of, request, work, replayed }: Asked): Promise<unknown> {
    const earlier = await this.#log.find(of);
    if (earlier !== undefined && earlier.request !== request) throw keyReused();
    if (earlier !== undefined && hasBegun(name, earlier)) {
      replayed();
      return earlier.answer === null ? resultOf(name, earlier) : replyIn(earlier.answer);
    }
    const begins = storesFirst.has(name);
    if (!begins) await this.#log.begin(of, request);
    try {
      const reply = await (begins ? this.#log.beginWith(of, request, work) : work());
      await this.#log.end(of, request, textOf(name, reply));
      return reply;
    } catch (error) {
      // After any other error, what was done is unknown.
      if (error instanceof RigbridgeError) await this.#failed(of, request, error);
      throw error;
    }
  }

  async #failed(of: RequestKey, request: string, error: RigbridgeError): Promise<void> {
    // The key stays without an answer, as when the service stops: a repeat must not do it once more.
    if (error instanceof MayBeStored) return;
    if (unclear.has(error.status) || hasStarted(await this.#log.find(of)))
      await this.#log.end(of, request, JSON.stringify({ problem: problemOf(error) } satisfies Answer));
    else await this.#log.forget(of);
  }
}

interface Asked {
  readonly of: RequestKey;
  readonly request: string;
  work(): Promise<unknown>;
  replayed(): void;
}

const hasStarted = (request: KeyedRequest | undefined): boolean =>
  request !== undefined && (request.command !== null || request.runId !== null);

/** False if the service stopped before the first request did anything. */
const hasBegun = (name: CallName, earlier: KeyedRequest): boolean =>
  earlier.answer !== null || hasStarted(earlier) || !onlyStarts.has(name);

/** An answer as it is stored: without secrets, which no file of the service shows. */
const Answer = z.union([
  z.object({
    problem: z.object({
      code: z.string(),
      message: z.string(),
      coded: CodedText.nullable(),
      errors: z.array(z.object({ path: z.string(), message: z.string(), coded: CodedText.optional() })),
    }),
  }),
  z.object({ notKept: z.enum(["it contains a secret", "it is too long"]) }),
  z.object({ reply: z.unknown() }),
]);
type Answer = z.infer<typeof Answer>;

function textOf(name: CallName, reply: unknown): string {
  const text = JSON.stringify({ reply });
  const notKept = (why: string): string => JSON.stringify({ notKept: why });
  if (JSON.stringify({ reply: withoutSecrets(operations[name].reply, reply) }) !== text)
    return notKept("it contains a secret");
  return text.length > longestAnswer ? notKept("it is too long") : text;
}

const problemOf = ({ code, message, coded, errors }: RigbridgeError) => ({ code, message, coded, errors: [...errors] });

/** The stored reply. Throws the stored problem, or `idempotency.not-kept`. */
function replyIn(text: string): unknown {
  const answer = Answer.parse(JSON.parse(text));
  if ("reply" in answer) return answer.reply;
  if ("notKept" in answer)
    throw new RigbridgeError(
      "idempotency.not-kept",
      `The first request with this Idempotency-Key was done, but its answer cannot be repeated: ${answer.notKept}. Read what it has changed`,
    );
  const { code, message, ...rest } = answer.problem;
  throw new RigbridgeError(isCode(code) ? code : "internal", message, rest);
}

const isCode = (code: string): code is ProblemCode => Object.hasOwn(problems, code);

/** The reply to a request during which the service stopped. Throws `idempotency.unknown`, or how its command has ended. */
function resultOf(name: CallName, { command, runId }: KeyedRequest): unknown {
  if (runId !== null && name === "startBulkAction") return { id: runId };
  if (!onlyStarts.has(name)) throw unknown();
  if (command === null)
    return {
      success: true,
      message: `Run ${runId} was started. Check GET /api/commands for the result`,
      state: "sent",
    };
  const { id: commandId, state, message } = command;
  if (state === "done" || state === "sent" || state === "queued")
    return { success: true, message, commandId, state } satisfies ActionReply;
  throw new RigbridgeError(
    state === "unknown" ? "rig.unconfirmed" : "not.possible",
    `Command ${commandId} has ended as ${state}: ${message}`,
  );
}

const unknown = (): RigbridgeError =>
  new RigbridgeError(
    "idempotency.unknown",
    "The service stopped, or lost its store, while the first request with this Idempotency-Key was running, and it is unknown whether it was done. Look, and send it with a new key if it was not",
  );
