import { z } from "zod";
import { withRequestedFields } from "../contract/miner-fields.ts";
import { type Operation, type OperationName, operationNames, operations } from "../contract/operations.ts";
import { invalidAll, notFound, RigbridgeError } from "../contract/problems.ts";
import { isRecord } from "../contract/record.ts";
import { isSecret, withoutSecrets } from "../contract/secrets.ts";
import type { MiningService } from "../contract/service.ts";
import { flatInput } from "../farm/index.ts";
import type { JsonObject } from "../farm/values.ts";
import { type CommandInbox, caller } from "./command-inbox.ts";
import type { Message } from "./mqtt-link.ts";
import { commandTopic, type Topics } from "./topics.ts";

export interface RequestsOptions {
  readonly service: MiningService;
  readonly inbox: CommandInbox;
  readonly topics: Topics;
  readonly base: string;
  /** Called after an operation that may have changed something. */
  readonly changed: () => void;
}

const maxRunning = 64;

/**
 * Every operation of the API, at `bridge/request/<operation>`, with its input as JSON. Every subscriber can read the
 * responses, so they contain no secrets; an empty secret in a request leaves the stored one unchanged.
 */
export class Requests {
  readonly #options: RequestsOptions;
  #running = 0;

  constructor(options: RequestsOptions) {
    this.#options = options;
  }

  async handle(message: Message): Promise<void> {
    const { base, inbox, topics } = this.#options;
    const topic = commandTopic(base, message.topic);
    if (topic?.kind !== "request") return;
    const name = operationNames.find((each) => each === topic.operation && operations[each].kind === "call");
    await inbox.take(
      message,
      topics.response(/^[A-Za-z]{1,64}$/.test(topic.operation) ? topic.operation : "unknown"),
      async (value) => {
        if (name === undefined) throw notFound("operation", `"${topic.operation.slice(0, 64)}"`);
        if (!isRecord(value)) throw invalidAll([{ path: "payload", message: "must be a JSON object" }]);
        if (this.#running >= maxRunning)
          throw new RigbridgeError("too.many", `${maxRunning} requests are already running; try again later`);
        this.#running += 1;
        try {
          return { data: await this.#call(name, value) };
        } finally {
          this.#running -= 1;
        }
      },
    );
  }

  async #call(name: OperationName, { transaction: _, ...value }: JsonObject): Promise<unknown> {
    const { service, changed } = this.#options;
    const { input, userId } = flatInput(operations[name], withoutEmptySecrets(operations[name], value));
    try {
      // The input was parsed by this operation's schemas, which the types of the table cannot express.
      const reply: unknown = await Reflect.apply(service[name], service, [
        input,
        userId === undefined ? caller : { ...caller, userId },
      ]);
      return withRequestedFields(name, input, withoutSecrets(operations[name].reply, reply));
    } finally {
      if (operations[name].method !== "GET") changed();
    }
  }
}

function withoutEmptySecrets({ body }: Operation, value: JsonObject): JsonObject {
  const shape = body instanceof z.ZodObject ? body.shape : {};
  const isEmptySecret = (name: string): boolean =>
    value[name] === "" && Object.hasOwn(shape, name) && isSecret(shape[name]);
  return Object.fromEntries(Object.entries(value).filter(([name]) => !isEmptySecret(name)));
}
