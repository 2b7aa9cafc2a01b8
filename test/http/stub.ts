import { operations } from "../../src/contract/operations.ts";
import type { Encoded, MiningService } from "../../src/contract/service.ts";

export interface Call {
  readonly name: string;
  readonly input: unknown;
  readonly caller: unknown;
}

/** A service made from the table: it notes what it is asked and answers what a test tells it to. */
export interface Stub {
  readonly service: MiningService;
  readonly calls: Call[];
  /** What an operation answers, or throws when it is an Error; otherwise it answers `{ ok: name }`. */
  readonly answers: Map<string, unknown>;
  readonly encoded: Map<string, Encoded>;
}

export function stub(): Stub {
  const calls: Call[] = [];
  const answers = new Map<string, unknown>();
  const encoded = new Map<string, Encoded>();
  const methods = Object.keys(operations).map((name) => {
    const method = async (input: unknown, caller: unknown) => {
      calls.push({ name, input, caller });
      const answer = await (answers.get(name) ?? { ok: name });
      if (answer instanceof Error) throw answer;
      return answer;
    };
    return [name, method];
  });
  const about = async (caller: unknown) => {
    calls.push({ name: "about", input: {}, caller });
    return { operations: ["getSummary"] };
  };
  /** Those with an answer of the test. */
  const features = async () => new Set(answers.keys());
  const service = { ...Object.fromEntries(methods), about, features, encoded: (name: string) => encoded.get(name) };
  if (!isService(service)) throw new Error("the stub lacks an operation");
  return { service, calls, answers, encoded };
}

const isService = (value: object): value is MiningService =>
  Object.keys(operations).every((name) => typeof Reflect.get(value, name) === "function");
