import { createServer, type Server } from "node:http";
import { invalid, RigbridgeError } from "../../contract/problems.ts";
import { answering } from "./answer.ts";
import type { KindName } from "./kinds.ts";
import { routes } from "./routes.ts";
import { Site } from "./site.ts";
import type { TwinMiner } from "./twin-miner.ts";
import { type TwinUser, users } from "./users.ts";

export interface TwinOptions {
  /** Of its display strings; en-US when left out. */
  readonly locale?: string;
  /** USD when left out. */
  readonly currency?: string;
  /** The machine's own when left out. */
  readonly timeZone?: string;
  /** From four on the last two are managed; 40 when left out. */
  readonly miners?: number;
  /** What `?key=` must say; none is asked for when left out. */
  readonly key?: string | undefined;
  /** 127.0.0.1 when left out. */
  readonly host?: string;
  /** 0, any free one, when left out. */
  readonly port?: number;
  /** The same seed and clock give the same readings; 1 when left out. */
  readonly seed?: number;
  /** Epoch ms; the machine's clock when left out. */
  readonly clock?: () => number;
}

/** What has been asked for. */
export interface TwinRequests {
  count: number;
  /** The last hundred, as "GET /api/miners?user_id=2"; a key is left out. */
  readonly paths: string[];
}

/**
 * A server with the documented interface as the reference product has it, and nothing beyond. It shares no code with
 * ours but the catalogues, the number formats and the physics of virtual rigs.
 */
export interface Twin {
  readonly url: string;
  readonly users: readonly TwinUser[];
  readonly requests: TwinRequests;
  /** As they are now; each can be switched off and on, and has a `model`. */
  readonly miners: readonly TwinMiner[];
  /** A further external miner in the group "Hall A"; it mines. */
  addMiner(kind?: KindName): TwinMiner;
  removeMiner(id: number): void;
  /** Cuts every connection. */
  close(): Promise<void>;
}

/** Throws `input.invalid` for an unknown locale, `not.possible` when the address cannot be had. */
export async function startTwin(options: TwinOptions = {}): Promise<Twin> {
  const { locale = "en-US", currency = "USD", timeZone, key, host = "127.0.0.1", port = 0 } = options;
  if (!knownLocale(locale)) throw invalid("locale", "is no known locale, like en-US or sv-SE");
  const { miners = 40, seed = 1, clock = Date.now } = options;
  const site = new Site({ locale, currency, timeZone, miners, seed, clock });
  const requests: TwinRequests = { count: 0, paths: [] };
  const server = createServer(answering(routes(site), key, (path) => note(requests, path)));
  const listensOn = await listening(server, host, port);
  return {
    url: `http://${host.includes(":") ? `[${host}]` : host}:${listensOn}`,
    users,
    requests,
    get miners() {
      return site.miners;
    },
    addMiner: (kind = "asic") => site.addExternal(kind, { groupId: 1, state: "mining" }),
    removeMiner: (id) => site.removeMiner(id),
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
}

/** Whether numbers can be written as this locale does. */
export function knownLocale(locale: string): boolean {
  try {
    return Intl.NumberFormat.supportedLocalesOf(locale).length > 0;
  } catch {
    return false;
  }
}

const mostPaths = 100;

function note(requests: TwinRequests, path: string): void {
  requests.count += 1;
  requests.paths.push(path);
  if (requests.paths.length > mostPaths) requests.paths.shift();
}

const listening = (server: Server, host: string, port: number): Promise<number> =>
  new Promise((resolve, reject) => {
    server.once("error", (error) => {
      const why = "code" in error && error.code === "EADDRINUSE" ? "something listens there already" : error.message;
      reject(
        new RigbridgeError("not.possible", `The reference server cannot listen on ${host}:${port}: ${why}`, {
          cause: error,
        }),
      );
    });
    server.listen(port, host, () => {
      const address = server.address();
      resolve(typeof address === "object" && address !== null ? address.port : port);
    });
  });
