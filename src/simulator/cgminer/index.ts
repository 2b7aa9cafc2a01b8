import { objectIn } from "../json.ts";
import { rpcReply } from "../reply.ts";
import { type Conversation, logWrite, type RigBody } from "../rig.ts";
import { commands } from "./commands.ts";
import { type Dialect, type DialectName, dialects } from "./dialects.ts";
import type { Answer, CgminerRig } from "./rig.ts";
import { escaped, JsonWriter, TextWriter } from "./writer.ts";

/** The cgminer protocol, API 3.7: one request a connection, as JSON or as plain text. */
export function cgminer(
  body: RigBody,
  options: {
    dialect: DialectName | Dialect;
    privileged: boolean;
    grants?: readonly string[];
    dualAlgorithm?: string | undefined;
  },
): Conversation {
  const { model } = body;
  const { privileged, grants = [], dualAlgorithm = null } = options;
  const may = (command: string) => !body.denies() && (grants.includes(command) || (privileged && grants.length === 0));
  const savedPools = model.pools.map((pool) => ({ ...pool }));
  const dialect = typeof options.dialect === "string" ? dialects[options.dialect] : options.dialect;
  const rig: CgminerRig = { body, model, dialect, may, dualAlgorithm, savedPools };
  return { rpc: (request) => (request === "" ? null : rpcReply(reply(rig, request))) };
}

interface Request {
  readonly command: string;
  readonly parameter: string | null;
}

function reply(rig: CgminerRig, text: string): string {
  const json = text.startsWith("{");
  const request = json ? fromJson(text) : fromText(text);
  rig.model.advance();
  const form = json ? jsonForm : textForm;
  if ("code" in request) return form.whole(form.answer(rig, request));
  const names = request.command.split("+");
  if (names.length === 1 || !rig.dialect.joins) return single(rig, form, request);
  return form.joined(names.map((name) => [name, form.answer(rig, joinedAnswer(rig, name))]));
}

function single(rig: CgminerRig, form: Form, request: Request): string {
  const answer = run(rig, request);
  return typeof answer === "string" ? form.word(answer) : form.whole(form.answer(rig, answer));
}

function run(rig: CgminerRig, { command: name, parameter }: Request): Answer | string {
  const command = rig.dialect.lacks.has(name) ? undefined : commands.get(name);
  if (command === undefined) return { status: "E", code: 14, message: "Invalid command", bare: true };
  if (command.writes) logWrite(rig.body.requests, parameter === null ? name : `${name}|${parameter}`);
  if (command.privileged && !rig.may(name)) return denied(name);
  return command.run(rig, parameter);
}

/** Only reports can be joined; a privileged command is always refused. */
function joinedAnswer(rig: CgminerRig, name: string): Answer {
  if (commands.get(name)?.privileged) return denied(name);
  const answer = run(rig, { command: name, parameter: null });
  return typeof answer === "string" ? denied(name) : answer;
}

const denied = (name: string): Answer => ({ status: "E", code: 45, message: `Access denied to '${name}' command` });

/** A command that is not a string counts as empty; a number as parameter counts as its digits. */
function fromJson(text: string): Request | Answer {
  const request = objectIn(text);
  if (request === null) return { status: "E", code: 23, message: "Invalid JSON" };
  const { command, parameter = null } = request;
  if (command === undefined) return { status: "E", code: 24, message: "Missing JSON 'command'" };
  const known = typeof parameter === "string" || typeof parameter === "number";
  return { command: typeof command === "string" ? command : "", parameter: known ? String(parameter) : null };
}

function fromText(text: string): Request {
  const bar = text.indexOf("|");
  if (bar === -1) return { command: text, parameter: null };
  return { command: text.slice(0, bar), parameter: text.slice(bar + 1) };
}

/** The form of replies: `answer` gives the inside of one answer, `whole` and `joined` make it a reply. */
interface Form {
  answer(rig: CgminerRig, answer: Answer): string;
  whole(answer: string): string;
  joined(answers: readonly (readonly [name: string, answer: string])[]): string;
  /** RESTART and BYE, which have no status around them. */
  word(word: string): string;
}

const seconds = (ms: number): number => Math.floor(ms / 1000);

const jsonForm: Form = {
  answer(rig, { status, code, message, bare, body }) {
    const when = seconds(rig.model.at);
    const description = bare ? "" : `,"Description":${JSON.stringify(rig.dialect.description)}`;
    const text = JSON.stringify(message);
    const head = `"STATUS":[{"STATUS":"${status}","When":${when},"Code":${code},"Msg":${text}${description}}]`;
    if (body === undefined) return head;
    const writer = new JsonWriter();
    body.write(writer);
    return `${head},"${body.section}":[${writer.end()}]`;
  },
  whole: (answer) => `{${answer},"id":1}`,
  joined: (answers) => `{${answers.map(([name, answer]) => `"${name}":[{${answer},"id":1}]`).join(",")},"id":1}`,
  word: (word) => `{"STATUS":"${word}","id":1}`,
};

const textForm: Form = {
  answer(rig, { status, code, message, bare, body }) {
    const when = seconds(rig.model.at);
    const description = bare ? "" : `,Description=${escaped(rig.dialect.description)}`;
    const head = `STATUS=${status},When=${when},Code=${code},Msg=${escaped(message)}${description}|`;
    if (body === undefined) return head;
    const writer = new TextWriter(body.numbered ? "" : body.section);
    body.write(writer);
    return head + writer.end();
  },
  whole: (answer) => answer,
  joined: (answers) => answers.map(([name, answer]) => `CMD=${name}|${answer}`).join(""),
  word: (word) => word,
};
