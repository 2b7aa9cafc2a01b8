import { operationNames, operations } from "../contract/operations.ts";
import { invalid, invalidAll, type Mistake, RigbridgeError } from "../contract/problems.ts";
import { completeFields, type MinerRow } from "../contract/rows.ts";
import type { Caller, CallName, Input, MiningService, Reach, Reply } from "../contract/service.ts";
import { urlsIn } from "../contract/service-urls.ts";
import { detail } from "../messages/detail.ts";
import { type Parser, parserFor } from "../units/parse.ts";
import { aboutCaller } from "./about.ts";
import { ForeignService } from "./foreign-service.ts";
import { LastListsByCaller } from "./last-lists.ts";
import type { Log } from "./log.ts";
import { checkedReply } from "./own-replies.ts";
import { rowsIn } from "./rows.ts";
import { oneLine } from "./secrets.ts";
import { ServerSession } from "./server-session.ts";
import { watchServer } from "./watch.ts";
import { minerForm, rowForm, type WatchContext } from "./watch-forms.ts";
import { openWire, type Platform, type Wire } from "./wire.ts";

export interface ConnectOptions {
  /**
   * Like http://127.0.0.1:17790. Of several URLs of one service, as a list or separated by commas, the first that answers
   * is used until it fails.
   */
  readonly url: string | readonly string[];
  /** The server's name in the uids of its miners; default: its host. */
  readonly name?: string;
  readonly key?: string | undefined;
  /** The locale of a foreign server's display strings. */
  readonly locale?: string;
  /** Timeout of a read's answer, s; default: 10. */
  readonly timeout?: number;
  /** Interval for polling a server without its own events, s; default: 15. */
  readonly poll?: number;
  /**
   * The caller is a centre: the server shows its actors, if the key is marked as a centre's there, and the rows of the server
   * are kept by the caller alone, which is told that the server is away; default: false.
   */
  readonly isCentre?: boolean;
  readonly log?: Log;
  /** Epoch ms. */
  readonly now?: () => number;
}

/** The client over the HTTP of Node or of a browser; `index.ts` and `browser.ts` document it. */
export function connectOver(platform: Platform, options: ConnectOptions): MiningService {
  const { key, locale = "en-US", timeout = 10, poll: pollSeconds = 15, isCentre, log, now = Date.now } = options;
  const urls = typeof options.url === "string" ? urlsIn(options.url) : options.url;
  const wires = openWires(platform, urls, key);
  const name = options.name ?? new URL(urls[0] ?? "").hostname;
  const session = new ServerSession({ wires, key, timeoutSeconds: timeout, isCentre, log });
  const lastLists = new LastListsByCaller();
  const noted = new Set<string>();
  /** Logs each note once, since the same requests are repeated. */
  const note = (words: string): void => {
    if (noted.has(words) || noted.size >= maxNotes) return;
    noted.add(words);
    log?.warn({ service: session.wire.origin }, words);
  };
  const foreign = new ForeignService({ session, name, locale, parser: parserOf(locale), now, note });
  const closing = new AbortController();
  /** Fires after a write, so that the next poll starts at once. */
  const changes = new EventTarget();

  const calls = callsOf(async (operation, input, caller) => {
    const server = await session.serverFor(operation);
    const reply =
      server.kind === "foreign"
        ? await foreign.call(operation, input, caller)
        : await session
            .json(operation, input, caller)
            .then(({ json, context }) => checkedReply(operation, json, context));
    if (operations[operation].method !== "GET") changes.dispatchEvent(new Event("change"));
    return reply;
  });
  const remembering = async <T>(reply: Promise<T>, remember: (reply: T) => void): Promise<T> => {
    remember(await reply);
    return reply;
  };
  /** Part of the versions of lists that this client creates itself. */
  const run = `c${Math.floor(Math.random() * 36 ** 8).toString(36)}`;
  let lists = 0;
  /** The server's rows, or rows derived from a foreign server's miners; `all` returns them without the filter. */
  const rowLists = async (input: Input<"listMinerRows">, caller: Caller): Promise<RowLists> => {
    const server = await session.serverFor("listMinerRows");
    if (server.kind === "rigbridge")
      return { list: await calls.listMinerRows({ ...input, ...completeFields(input) }, caller) };
    const miners = await calls.listMiners({}, caller);
    lists += 1;
    const version = `${run}.${lists}.0`;
    return {
      list: { version, whole: true, miners: rowsIn(miners, input), removed: [] },
      all: () => rowsIn(miners, {}),
    };
  };
  const watchContext = (caller: Caller, reach: Reach | undefined): WatchContext => ({
    session,
    pollSeconds,
    reach,
    remembers: isCentre !== true,
    log,
    changes,
    calls,
    lastLists: () => lastLists.of(caller),
  });
  const untilClosed = (signal: AbortSignal): AbortSignal => AbortSignal.any([signal, closing.signal]);
  const isWhole = ({ status, group, tag }: Input<"listMinerRows">): boolean =>
    [status, group, tag].every((value) => value === undefined);
  return {
    ...calls,
    // The list as an object always has every field, as its type states.
    listMiners: ({ fields: _, ...filter }, caller) =>
      remembering(calls.listMiners(filter, caller), (list) => {
        if (Object.values(filter).every((value) => value === undefined)) lastLists.miners(caller, list);
      }),
    listMinerRows: async (input, caller) => {
      const { list, all } = await rowLists(input, caller);
      if (all !== undefined) lastLists.keep(list.version, all());
      if (isWhole(input) && isCentre !== true) lastLists.rows(caller, list);
      return list;
    },
    listNotifications: (input, caller) =>
      remembering(calls.listNotifications(input, caller), (list) => {
        if (input.since === undefined) lastLists.notifications(caller, list);
      }),
    getSummary: (input, caller) =>
      remembering(calls.getSummary(input, caller), (summary) => lastLists.summary(caller, summary)),
    watchEvents: (input, caller, signal, reach) => {
      const context = watchContext(caller, reach);
      return watchServer(context, minerForm(context, input, caller), input, caller, untilClosed(signal));
    },
    watchMinerRows: (input, caller, signal, reach) => {
      const context = watchContext(caller, reach);
      const list: MiningService["listMinerRows"] = async (...what) => (await rowLists(...what)).list;
      const form = rowForm({ ...context, listMinerRows: list }, lastLists.ofVersion(input.after), input, caller);
      return watchServer(context, form, input, caller, untilClosed(signal));
    },
    about: (caller) => aboutCaller(session, caller, locale),
    features: async () => (await session.server()).features,
    close: async () => {
      closing.abort();
      for (const wire of wires) wire.close();
    },
  };
}

/** Throws `input.invalid`, with every mistake, unless there is a URL and all are valid. */
function openWires(platform: Platform, urls: readonly string[], key: string | undefined): [Wire, ...Wire[]] {
  const mistakes: Mistake[] = [];
  const wires = urls.flatMap((url, index) => {
    try {
      return [openWire(platform, url, key)];
    } catch (error) {
      if (!(error instanceof RigbridgeError)) throw error;
      const path = urls.length === 1 ? "url" : `url[${index}]`;
      mistakes.push(...error.errors.map((each) => ({ ...each, path })));
      return [];
    }
  });
  if (mistakes.length > 0) throw invalidAll(mistakes);
  const [first, ...others] = wires;
  if (first === undefined) throw invalid("url", detail("client.url"));
  return [first, ...others];
}

interface RowLists {
  readonly list: Reply<"listMinerRows">;
  readonly all?: () => MinerRow[];
}

/** Maximum different notes of one service in the log. */
const maxNotes = 1_000;

function parserOf(locale: string): Parser {
  try {
    return parserFor({ locale });
  } catch {
    throw invalid("locale", `"${oneLine(locale, 40)}" is not a language tag like en-US or sv-SE`);
  }
}

type Calls = Pick<MiningService, CallName>;

const callNames = operationNames.filter((name): name is CallName => operations[name].kind === "call");

/** A method for each operation. All work alike; the table defines which input and reply belong together. */
function callsOf(call: (name: CallName, input: object, caller: Caller) => Promise<unknown>): Calls {
  const calls = Object.fromEntries(
    callNames.map((name) => [name, (input: object, caller: Caller) => call(name, input, caller)]),
  );
  if (hasAll(calls)) return calls;
  throw new RigbridgeError("internal", "An operation has no method");
}

const hasAll = (calls: object): calls is Calls => callNames.every((name) => Object.hasOwn(calls, name));
