import { Mutex } from "../async/index.ts";
import { type Curtailment, CurtailmentBody } from "../contract/curtailment.ts";
import { mistakesOf } from "../contract/decode.ts";
import { invalid, invalidAll } from "../contract/problems.ts";
import { quantityIn } from "../contract/quantity.ts";
import { isRecord } from "../contract/record.ts";
import type { MiningService } from "../contract/service.ts";
import { worded } from "../contract/wording.ts";
import { type CommandInbox, caller } from "./command-inbox.ts";
import { curtailmentSummary, mostActive, ofTarget, targetReason } from "./curtailment.ts";
import type { Message } from "./mqtt-link.ts";
import { commandTopic, type Topics } from "./topics.ts";

export interface CurtailmentCommandsOptions {
  readonly service: Pick<
    MiningService,
    "listCurtailments" | "startCurtailment" | "changeCurtailment" | "endCurtailment"
  >;
  readonly inbox: CommandInbox;
  readonly topics: Topics;
  readonly base: string;
  /** Called after a command that may have changed something. */
  readonly changed: () => void;
}

/** Begins, changes and ends curtailments. */
export class CurtailmentCommands {
  readonly #options: CurtailmentCommandsOptions;
  /** Two targets in quick succession must not begin two. */
  readonly #targets = new Mutex();

  constructor(options: CurtailmentCommandsOptions) {
    this.#options = options;
  }

  async handle(message: Message): Promise<void> {
    const { base, inbox, topics, changed } = this.#options;
    const topic = commandTopic(base, message.topic);
    if (topic?.kind !== "curtailment") return;
    await inbox.take(message, topics.curtailment.response, async (value) => {
      const work = topic.sets === null ? this.#set(value) : this.#targets.run(() => this.#setTarget(wattsIn(value)));
      const curtailment = await work.finally(changed);
      return { data: curtailment === null ? {} : curtailmentSummary(curtailment) };
    });
  }

  /** `{end: id}`, or the body of POST /api/curtailments, of which the reason may be missing. */
  async #set(value: unknown): Promise<Curtailment> {
    const { service } = this.#options;
    if (!isRecord(value)) throw invalid("payload", "must be a JSON object");
    const { transaction: _, end, ...body } = value;
    if (end !== undefined) {
      if (typeof end !== "number" || !Number.isInteger(end) || Object.keys(body).length > 0)
        throw invalid("end", "must be the id of a curtailment, and nothing else may be given with it");
      return service.endCurtailment({ id: end }, caller);
    }
    const checked = CurtailmentBody.safeParse({ reason: "MQTT", ...body }, worded);
    if (!checked.success) throw invalidAll(mistakesOf(checked.error.issues, "payload", []));
    return service.startCurtailment(checked.data, caller);
  }

  /** W that all rigs give up; 0 ends it. Null: there was none to end. */
  async #setTarget(watts: number): Promise<Curtailment | null> {
    const { service } = this.#options;
    const running = ofTarget(await service.listCurtailments({ active: true, limit: mostActive }, caller));
    if (watts === 0) return running === undefined ? null : service.endCurtailment({ id: running.id }, caller);
    const target = { reduce: watts };
    if (running !== undefined) return service.changeCurtailment({ id: running.id, target }, caller);
    return service.startCurtailment({ target, reason: targetReason }, caller);
  }
}

/** The W in "500", which are kW, or in "2 MW". Throws `input.invalid`. */
function wattsIn(value: unknown): number {
  const text = typeof value === "string" ? value : "";
  const isPlain = /^\d+(?:\.\d+)?$/.test(text);
  const watts = quantityIn(isPlain ? `${text} kW` : text, "W");
  if (typeof watts !== "number") throw invalid("target", watts.text);
  if (watts < 0 || (watts > 0 && watts < 1)) throw invalid("target", "must be 0, or 1 W or more");
  return watts;
}
