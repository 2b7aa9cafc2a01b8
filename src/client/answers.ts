import { z } from "zod";
import { CodedText } from "../contract/coded-text.ts";
import { type ProblemCode, problems, RigbridgeError } from "../contract/problems.ts";
import type { Detail } from "../messages/coded-text.ts";
import { detail } from "../messages/detail.ts";
import { oneLine } from "./secrets.ts";
import type { Answer, Wire } from "./wire.ts";

/** The server and the request, as errors name them. */
export interface ErrorContext {
  readonly wire: Pick<Wire, "origin" | "scrub">;
  /** As `GET /api/miners`. */
  readonly request: string;
}

export const garbled = (message: string | Detail): RigbridgeError => new RigbridgeError("service.garbled", message);

export const succeeded = ({ status }: Answer): boolean => status >= 200 && status < 300;

export const isPage = ({ type, body }: Answer): boolean =>
  /html/.test(type) || /^\s*</.test(new TextDecoder("latin1").decode(body.subarray(0, 100)));

/** The JSON of an answer. Throws `service.garbled`. */
export function jsonOf(answer: Answer, { wire, request }: ErrorContext): unknown {
  const what = `${wire.origin} answers ${request}`;
  if (isPage(answer)) throw garbled(detail("client.page", { origin: wire.origin, request }));
  // The decoder removes a byte order mark.
  const text = new TextDecoder().decode(answer.body);
  if (text.trim() === "") throw garbled(`${what} with nothing at all`);
  try {
    const value: unknown = JSON.parse(text);
    return value;
  } catch {
    throw garbled(`${what} with broken JSON`);
  }
}

/** Left out by older services, and where a text has no code. */
const Coded = CodedText.optional().catch(undefined);

/** RFC 9457, as sent by a Rigbridge. */
const Problem = z.object({
  type: z.string().startsWith("urn:rigbridge:problem:"),
  detail: z.string().default(""),
  title: z.string().default(""),
  code: z.string(),
  coded: Coded,
  errors: z.array(z.object({ path: z.string(), message: z.string(), coded: Coded })).default([]),
});

/** The problem in a Rigbridge's answer; undefined for the answer of any other server. */
export function problemIn(answer: Answer, { wire }: ErrorContext): RigbridgeError | undefined {
  if (!answer.type.includes("json") || answer.body.length > longestError) return undefined;
  const problem = Problem.safeParse(tryJson(answer.body)).data;
  if (problem === undefined) return undefined;
  const { detail, title, code } = problem;
  const clean = (text: string) => wire.scrub(oneLine(text, 1000));
  const cleanText = ({ code, values }: CodedText): CodedText => ({
    code: clean(code),
    values: Object.fromEntries(
      Object.entries(values).map(([name, value]) => [
        clean(name),
        typeof value === "string" ? clean(value) : typeof value === "number" ? value : cleanText(value),
      ]),
    ),
  });
  const errors = problem.errors.map(({ path, message, coded }) => ({
    path: clean(path),
    message: clean(message),
    ...(coded === undefined ? {} : { coded: cleanText(coded) }),
  }));
  return new RigbridgeError(isCode(code) ? code : codeFor(answer.status), clean(detail || title), {
    errors,
    coded: problem.coded === undefined ? null : cleanText(problem.coded),
  });
}

/** Bytes; a longer answer is not an error of a service. */
const longestError = 100_000;

const isCode = (code: string): code is ProblemCode => Object.hasOwn(problems, code);

/** The error for an unsuccessful answer. */
export function refusal(answer: Answer, context: ErrorContext): RigbridgeError {
  return problemIn(answer, context) ?? redirect(answer, context) ?? foreignRefusal(answer, context);
}

/** Redirects are not followed: they could send the key elsewhere, or turn an action into a read. */
function redirect({ status, location }: Answer, { wire, request }: ErrorContext): RigbridgeError | undefined {
  if (status < 300 || status > 399) return undefined;
  const to = URL.canParse(location, wire.origin) ? new URL(location, wire.origin) : undefined;
  const target = to === undefined ? "elsewhere" : oneLine(wire.scrub(to.origin + to.pathname));
  return new RigbridgeError(
    "service.refused",
    `${wire.origin} redirects ${request} to ${target} (HTTP ${status}), which is not followed; give the service's own URL`,
  );
}

function foreignRefusal(answer: Answer, { wire, request }: ErrorContext): RigbridgeError {
  const words = wire.scrub(wordsIn(answer));
  const outcome = words === "" ? `with HTTP ${answer.status}` : `with HTTP ${answer.status}: ${words}`;
  return new RigbridgeError(codeFor(answer.status), `${wire.origin} answers ${request} ${outcome}`);
}

const codes: Readonly<Record<number, ProblemCode>> = {
  400: "input.invalid",
  401: "key.wrong",
  403: "user.forbidden",
  404: "not.found",
  408: "service.unreachable",
  409: "not.possible",
  413: "body.too-large",
  422: "input.invalid",
  429: "too.many",
  501: "service.unsupported",
  502: "service.unreachable",
  503: "service.not-ready",
  504: "service.unreachable",
};

const codeFor = (status: number): ProblemCode => codes[status] ?? "service.refused";

const messageKeys = ["message", "Message", "detail", "error", "title"];

/** A foreign server's reason for a refusal, as one line; "" for a web page. */
function wordsIn(answer: Answer): string {
  if (isPage(answer) || answer.body.length > longestError) return "";
  const value = tryJson(answer.body);
  if (typeof value === "string") return oneLine(value);
  if (typeof value !== "object" || value === null)
    return /^text\/plain/.test(answer.type) ? oneLine(new TextDecoder().decode(answer.body.subarray(0, 1000))) : "";
  const found = Object.entries(value).find(([key, text]) => messageKeys.includes(key) && typeof text === "string");
  return typeof found?.[1] === "string" ? oneLine(found[1]) : "";
}

/** Undefined if it is not JSON. */
export function tryJson(body: Uint8Array): unknown {
  try {
    const value: unknown = JSON.parse(new TextDecoder().decode(body));
    return value;
  } catch {
    return undefined;
  }
}
