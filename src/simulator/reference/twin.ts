import { createServer, type Server } from "node:http";
import { invalid, RigbridgeError } from "../../contract/problems.ts";
import { answering } from "./answer.ts";
import type { KindName } from "./kinds.ts";
import { routes } from "./routes.ts";
import { Site } from "./site.ts";
import type { TwinMiner } from "./twin-miner.ts";
import { type TwinUser, users } from "./users.ts";

export interface TwinOptions {
  /** Locale of its display strings; default en-US. */
  readonly locale?: string;
  /** Default USD. */
  readonly currency?: string;
  /** By default that of the machine. */
  readonly timeZone?: string;
  /** From four on the last two are managed; default 40. */
  readonly miners?: number;
  /** The required `?key=`; by default none. */
  readonly key?: string | undefined;
  /** Default 127.0.0.1. */
  readonly host?: string;
  /** Default 0, any free port. */
  readonly port?: number;
  /** The same seed and clock give the same readings; default 1. */
  readonly seed?: number;
  /** Epoch ms; by default the machine's clock. */
  readonly clock?: () => number;
}

/** The requests so far. */
export interface TwinRequests {
  count: number;
  /** The last hundred, such as "GET /api/miners?user_id=2", without keys. */
  readonly paths: string[];
}

/**
 * A server with exactly the documented API of the foreign product. With the service it shares only the catalogues,
 * the number formats and the physics of virtual rigs.
 */
export interface Twin {
  readonly url: string;
  readonly users: readonly TwinUser[];
  readonly requests: TwinRequests;
  /** Up to date; each can be switched off and on, and has a `model`. */
  readonly miners: readonly TwinMiner[];
  /** Adds an external miner to the group "Hall A", mining. */
  addMiner(kind?: KindName): TwinMiner;
  removeMiner(id: number): void;
  /** Cuts every connection. */
  close(): Promise<void>;
}

/** Throws `input.invalid` for an unknown locale, `not.possible` when the address is not available. */
export async function startTwin(options: TwinOptions = {}): Promise<Twin> {
  const { locale = "en-US", currency = "USD", timeZone, key, host = "127.0.0.1", port = 0 } = options;
  if (!knownLocale(locale)) throw invalid("locale", "is not a known locale; use one such as en-US or sv-SE");
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

/** Whether Intl has this locale. */
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
