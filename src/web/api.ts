import { operations } from "virtual:operations";
import type { CallName, Input, Reply } from "../contract/service.ts";
import type { CodedText } from "../messages/coded-text.ts";
import { detailText, loadDetails, ownWords } from "./details.ts";
import { loadLanguage, t } from "./language.ts";
import { loadOtherOperations, otherOperations } from "./other-operations.ts";
import { problemWords } from "./service-words.ts";

/** One mistake in the input: its path and what is wrong. */
export interface Mistake {
  readonly path: string;
  readonly message: string;
}

/** A refusal by the service, or no answer (`status` 0). The message is the service's own sentence. */
export class Problem extends Error {
  override readonly name = "Problem";
  readonly status: number;
  readonly code: string;
  readonly mistakes: readonly Mistake[];
  constructor(status: number, code: string, message: string, mistakes: readonly Mistake[] = []) {
    super(message);
    this.status = status;
    this.code = code;
    this.mistakes = mistakes;
  }
}

export interface CallOptions {
  readonly signal?: AbortSignal;
  /** Timeout of the answer in ms; default: 30 s. */
  readonly timeoutMs?: number;
  /** Sent even if the page is closed in the meantime. */
  readonly keepalive?: boolean;
}

/** Calls an operation of the contract. Throws a `Problem`, or the signal's reason. */
export async function call<K extends CallName>(name: K, input: Input<K>, options: CallOptions = {}): Promise<Reply<K>> {
  // A part of the shell may be the first to name it.
  if (entryOf(name) === undefined) await loadOtherOperations();
  const [method, path, body] = requestOf(name, input);
  const answer = await request(method, path, body, options);
  // The service's own schemas describe its answers.
  return (await answer.json()) as Reply<K>;
}

/** The address of a reading operation, for links and downloads. */
export const addressOf = <K extends CallName>(name: K, input: Input<K> & { format?: "csv" }): string =>
  requestOf(name, input)[1];

const entryOf = (name: string) => operations[name] ?? otherOperations[name];

function requestOf(name: string, input: unknown): [method: string, path: string, body: object | undefined] {
  const entry = entryOf(name);
  if (entry === undefined) throw new Problem(501, "service.unsupported", name);
  const [method, template, queryFields] = entry;
  const rest = new Map<string, unknown>(Object.entries(input ?? {}));
  const path = template.replace(/:(\w+)/g, (_, field: string) => {
    const text = String(rest.get(field) ?? "");
    rest.delete(field);
    return encodeURIComponent(text);
  });
  const query = new URLSearchParams();
  for (const [field, value] of rest) {
    if (queryFields?.includes(field) === false) continue;
    rest.delete(field);
    if (value !== undefined) query.set(field, String(value));
  }
  return [
    method,
    query.size === 0 ? path : `${path}?${query}`,
    queryFields === undefined ? undefined : Object.fromEntries(rest),
  ];
}

/** A request to the service, relative to the dashboard's own address. Throws a `Problem` unless the status is 2xx. */
export async function request(
  method: string,
  path: string,
  body?: object,
  { signal, timeoutMs = 30_000, keepalive = false }: CallOptions = {},
): Promise<Response> {
  const limit = AbortSignal.timeout(timeoutMs);
  const init: RequestInit = {
    method,
    cache: "no-store",
    keepalive,
    signal: signal === undefined ? limit : AbortSignal.any([signal, limit]),
    ...(body === undefined ? {} : { body: JSON.stringify(body), headers: { "content-type": "application/json" } }),
  };
  const response = await fetch(new URL(path, document.baseURI), init).catch(async () => {
    if (signal?.aborted === true) throw signal.reason;
    await loadLanguage();
    throw new Problem(0, "service.unreachable", limit.aborted ? t.problem.timeout : t.problem.unreachable);
  });
  if (response.ok) return response;
  throw await problemOf(response);
}

async function problemOf(response: Response): Promise<Problem> {
  const [text] = await Promise.all([response.text().catch(() => ""), loadLanguage()]);
  const { code, detail, title, errors, coded } = parsed(text);
  const named = Array.isArray(errors) ? errors.filter(isMistake) : [];
  const hasOwn = isCoded(coded) || named.some((each) => isCoded(each.coded));
  if (hasOwn) await loadDetails();
  const mistakes = named.map(({ path, message, coded }) => ({
    path,
    message: isCoded(coded) ? ownWords(message, coded) : message,
  }));
  const words = [detail, title].find((each) => typeof each === "string");
  const own = isCoded(coded) ? detailText(coded) : named.length > 0 && hasOwn ? sentenceOf(mistakes) : undefined;
  return new Problem(
    response.status,
    typeof code === "string" ? code : "service.refused",
    typeof words === "string"
      ? await problemWords(String(code), words, own)
      : t.problem.status({ status: response.status }),
    mistakes,
  );
}

/** The mistakes in one sentence, as the service says it. */
const sentenceOf = (mistakes: readonly Mistake[]): string =>
  mistakes.map(({ path, message }) => (path === "" ? message : `${path}: ${message}`)).join("; ");

/** The service's own schema describes its values. */
const isCoded = (value: unknown): value is CodedText =>
  typeof value === "object" &&
  value !== null &&
  "code" in value &&
  typeof value.code === "string" &&
  "values" in value &&
  typeof value.values === "object" &&
  value.values !== null;

const isMistake = (each: unknown): each is Mistake & { readonly coded?: unknown } =>
  typeof each === "object" &&
  each !== null &&
  "path" in each &&
  typeof each.path === "string" &&
  "message" in each &&
  typeof each.message === "string";

function parsed(text: string): Readonly<Record<string, unknown>> {
  try {
    const value: unknown = JSON.parse(text);
    return typeof value === "object" && value !== null ? { ...value } : {};
  } catch {
    return {};
  }
}
