import type { Logger } from "pino";
import { operationNames, operations } from "../contract/operations.ts";
import { invalid, RigbridgeError } from "../contract/problems.ts";
import type { Caller, CallName, MiningService } from "../contract/service.ts";
import { type Parser, parserFor } from "../units/parse.ts";
import { ForeignService } from "./foreign-service.ts";
import { LastListsByCaller } from "./last-lists.ts";
import { checkedReply } from "./own-replies.ts";
import { oneLine } from "./secrets.ts";
import { ServerSession } from "./server-session.ts";
import { watchServer } from "./watch.ts";
import { openWire } from "./wire.ts";

export interface ConnectOptions {
  /** Like http://127.0.0.1:17790. */
  readonly url: string;
  /** What this server is called, for the uids of its miners; its host unless said. */
  readonly name?: string;
  readonly key?: string | undefined;
  /** The reference product's own locale, in which it writes its display strings. */
  readonly locale?: string;
  /** s to wait for the answer to a read; 10 unless said. */
  readonly timeout?: number;
  /** s between two looks at a server that has no events of its own; 15 unless said. */
  readonly poll?: number;
  readonly log?: Pick<Logger, "info" | "warn">;
  /** Told when a server that is watched cannot be reached, and, with null, when its watcher is up to date again. */
  readonly reach?: (error: RigbridgeError | null) => void;
  /** Epoch ms. */
  readonly now?: () => number;
}

/**
 * A mining service over HTTP: another Rigbridge, or the reference product. Nothing is opened before the first call.
 *
 * A miner of the reference product is filled up to the full shape: readings come from its `...Value` fields, else from
 * its display strings; what it does not say is null, energy always. Watched, a server that cannot be reached for three
 * polls has all its miners told once as Disconnected, without readings; when it is back they are told anew, or the
 * stream says `reset`. A watcher starts from the lists that were last handed out to the same actor.
 *
 * Throws `input.invalid` where the URL or the locale is none; calls reject with a RigbridgeError that holds no key.
 */
export function connectService(options: ConnectOptions): MiningService {
  const { url, key, locale = "en-US", timeout = 10, poll: pollSeconds = 15, log, reach, now = Date.now } = options;
  const wire = openWire(url, key);
  const name = options.name ?? new URL(url).hostname;
  const session = new ServerSession({ wire, key, timeoutSeconds: timeout, log });
  const lastLists = new LastListsByCaller();
  const noted = new Set<string>();
  /** Once each: a service is asked again and again. */
  const note = (words: string): void => {
    if (noted.has(words) || noted.size >= maxNotes) return;
    noted.add(words);
    log?.warn({ service: wire.origin }, words);
  };
  const foreign = new ForeignService({ session, name, locale, parser: parserOf(locale), now, note });
  const closing = new AbortController();
  /** Told when something has been changed, so that polls need not wait their time. */
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
  return {
    ...calls,
    // Whoever has the list as an object has it with every field, as its type says.
    listMiners: ({ fields: _, ...filter }, caller) =>
      remembering(calls.listMiners(filter, caller), (list) => {
        if (Object.values(filter).every((value) => value === undefined)) lastLists.miners(caller, list);
      }),
    listNotifications: (input, caller) =>
      remembering(calls.listNotifications(input, caller), (list) => lastLists.notifications(caller, list)),
    getSummary: (input, caller) =>
      remembering(calls.getSummary(input, caller), (summary) => lastLists.summary(caller, summary)),
    watchEvents: (input, caller, signal) =>
      watchServer(
        { session, pollSeconds, log, reach, changes, calls, lastLists: () => lastLists.of(caller) },
        input,
        caller,
        AbortSignal.any([signal, closing.signal]),
      ),
    features: async () => (await session.server()).features,
    close: async () => {
      closing.abort();
      wire.close();
    },
  };
}

/** Different notes of one service in the log. */
const maxNotes = 1_000;

function parserOf(locale: string): Parser {
  try {
    return parserFor({ locale });
  } catch {
    throw invalid("locale", `"${oneLine(locale, 40)}" is no language tag like en-US or sv-SE`);
  }
}

type Calls = Pick<MiningService, CallName>;

const callNames = operationNames.filter((name): name is CallName => operations[name].kind === "call");

/** A method for each operation, all of which do the same: the ties between input and reply are those of the table. */
function callsOf(call: (name: CallName, input: object, caller: Caller) => Promise<unknown>): Calls {
  const calls = Object.fromEntries(
    callNames.map((name) => [name, (input: object, caller: Caller) => call(name, input, caller)]),
  );
  if (hasAll(calls)) return calls;
  throw new RigbridgeError("internal", "An operation has no method");
}

const hasAll = (calls: object): calls is Calls => callNames.every((name) => Object.hasOwn(calls, name));
