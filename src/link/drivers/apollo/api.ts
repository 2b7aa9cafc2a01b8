import { isRecord } from "../../../contract/record.ts";
import type { Link } from "../../link.ts";
import { Notes, printable, TolerantReader } from "../../tolerant-reader.ts";
import { type HttpCall, type HttpReply, jsonOf } from "../../transports/http.ts";
import { refusedWith } from "../../transports/limits.ts";
import { BearerApi, isDenied } from "../shared/bearer-api.ts";
import { redact } from "../shared/redact.ts";

const callOf = (query: string, input?: unknown): HttpCall => ({
  method: "POST",
  path: "/api/graphql",
  body: { query, ...(input === undefined ? {} : { variables: { input } }) },
});

const loginQuery =
  "query ($input: AuthLoginInput!) { Auth { login(input: $input) { result { accessToken } error { message } } } }";

/** GraphQL refuses what needs a login with any status. */
const needsLogin = (reply: HttpReply): boolean => isDenied(reply) || /"code"\s*:\s*"UNAUTHENTICATED"/.test(reply.body);

/** FutureBit's GraphQL API: actions are fields of queries, each with an error of its own. Source: FutureBit's schema. */
export class ApolloApi {
  readonly #api: BearerApi;

  constructor(link: Link) {
    const { password } = link.credentials;
    const login = {
      call: callOf(loginQuery, { password }),
      password: password ?? "",
      tokenIn: (answer: TolerantReader): string | null =>
        answer.object("data").object("Auth").object("login").object("result").text("accessToken", 4_000),
      wordsIn: (answer: TolerantReader): string | null => {
        const error = answer.object("data").object("Auth").object("login").object("error");
        return (answer.list("errors")[0] ?? error).text("message", 200);
      },
    };
    this.#api = new BearerApi(link.http, password === undefined ? null : login, link, needsLogin);
  }

  get at(): string {
    return this.#api.at;
  }

  get locked(): BearerApi["locked"] {
    return this.#api.locked;
  }

  /** The data of a query; fields that failed are missing. */
  async query(text: string, signal: AbortSignal): Promise<unknown> {
    const reply = await this.#api.read(callOf(text), signal);
    return isRecord(reply?.value) ? reply.value.data : undefined;
  }

  /** One action, such as `Miner { stop }`, with its input. Throws `rig.refused` with the words of its error. */
  async run(
    action: { readonly text: string; readonly name: string },
    input: unknown,
    signal: AbortSignal,
    secrets: readonly string[] = [],
  ): Promise<void> {
    const call = callOf(action.text, input);
    const reply = await this.#api.command(call, signal, secrets);
    const message = errorIn(jsonOf(this.at, call, reply).value);
    if (message === null) return;
    const words = printable(redact(message.slice(0, 200), secrets)) || "without a reason";
    throw refusedWith("rig.refused", `${this.at} refused "${action.name}"`, words);
  }

  close(): void {
    this.#api.close();
  }
}

/** The first error of an answer: of the query, or of the action in it. */
function errorIn(answer: unknown): string | null {
  const reply = new TolerantReader(answer, new Notes(), "");
  const [first] = reply.list("errors");
  if (first !== undefined) return first.text("message", 1_000) ?? "";
  const data = reply.object("data");
  const [section = ""] = data.keys();
  const [action = ""] = data.object(section).keys();
  if (!isRecord(answer) || action === "") return "";
  const result = data.object(section).object(action);
  return result.object("error").has("message") ? (result.object("error").text("message", 1_000) ?? "") : null;
}
