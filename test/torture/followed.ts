import { Agent, get } from "node:http";
import { z } from "zod";
import { wait } from "./measure.ts";

/** What is looked at of a miner: no figure that moves between an event and a reply. */
const Seen = z.object({
  id: z.number(),
  name: z.string(),
  groupId: z.number(),
  statusInfo: z.object({ statusDisplay: z.string() }),
});
const List = z.object({ groupList: z.array(z.unknown()) });
const Group = z.object({ minerList: z.array(Seen), groupList: z.array(z.unknown()).optional() });

export type Miners = Map<number, { readonly name: string; readonly groupId: number; readonly status: string }>;

const seen = ({ name, groupId, statusInfo }: z.infer<typeof Seen>) => ({
  name,
  groupId,
  status: statusInfo.statusDisplay,
});

/** The miners in the reply of GET /api/miners. */
export function minersIn(json: string): Miners {
  const miners: Miners = new Map();
  const take = (groups: readonly unknown[]): void => {
    for (const group of groups) {
      const { minerList, groupList = [] } = Group.parse(group);
      for (const miner of minerList) miners.set(miner.id, seen(miner));
      take(groupList);
    }
  };
  take(List.parse(JSON.parse(json)).groupList);
  return miners;
}

interface Place {
  readonly port: number;
  readonly key: string;
  readonly signal: AbortSignal;
}

/** Reads events until the signal; `portion` gets the text as it comes. Rejects when it is cut off. */
function listening({ port, key, signal }: Place, portion: (text: string) => void): Promise<void> {
  return new Promise((resolve, reject) => {
    const agent = new Agent();
    const options = { port, path: "/api/events", headers: { "x-api-key": key }, agent, signal };
    const request = get(options, (response) => {
      if (response.statusCode !== 200) reject(new Error(`GET /api/events: ${response.statusCode}`));
      response.setEncoding("utf8").on("data", portion);
      response.on("error", reject);
      response.on("end", () => reject(new Error("the stream of events ended")));
    });
    request.on("error", reject);
    signal.addEventListener("abort", () => resolve());
  });
}

/** One that keeps the miners as the events tell them, and reads the list when a `reset` says so. */
export class Follower {
  readonly miners: Miners = new Map();
  events = 0;
  resets = 0;
  readonly ended: Promise<void>;
  readonly #list: () => Promise<Miners>;
  /** While the list is read: what events have told since, which may be newer. */
  readonly #told = new Set<number>();
  #reading = false;
  #outdated = false;

  constructor(place: Place, list: () => Promise<Miners>) {
    this.#list = list;
    let text = "";
    const listened = listening(place, (portion) => {
      text += portion;
      const end = text.lastIndexOf("\n\n");
      if (end === -1) return;
      for (const block of text.slice(0, end).split("\n\n")) this.#take(block);
      text = text.slice(end + 2);
    });
    this.ended = Promise.all([listened, this.#readWhenTold(place.signal)]).then(() => undefined);
  }

  /** Reads the list with the next turn. */
  readAnew(): void {
    this.#outdated = true;
  }

  #take(block: string): void {
    const type = /^event: ?(.+)$/m.exec(block)?.[1];
    const data = /^data: ?(.+)$/m.exec(block)?.[1];
    if (type === undefined || data === undefined) return;
    this.events += 1;
    if (type === "reset") {
      this.resets += 1;
      this.#outdated = true;
    }
    const body: unknown = JSON.parse(data);
    if (type === "miner") {
      const miner = Seen.parse(body);
      this.miners.set(miner.id, seen(miner));
      if (this.#reading) this.#told.add(miner.id);
    }
    if (type === "miner-removed") this.miners.delete(z.object({ id: z.number() }).parse(body).id);
  }

  /** At most once in two seconds, as a page would. */
  async #readWhenTold(signal: AbortSignal): Promise<void> {
    for (; !signal.aborted; await wait(2_000)) {
      if (!this.#outdated) continue;
      this.#outdated = false;
      this.#reading = true;
      for (const [id, miner] of await this.#list()) if (!this.#told.has(id)) this.miners.set(id, miner);
      this.#reading = false;
      this.#told.clear();
    }
  }
}

/** Listeners that come for some seconds and go, one after the other; every third reads nothing. Gives how many came. */
export async function visitors(place: Place): Promise<number> {
  let count = 0;
  for (; !place.signal.aborted; count += 1) {
    const leaving = AbortSignal.any([place.signal, AbortSignal.timeout(1_000 + Math.floor(Math.random() * 5_000))]);
    if (count % 3 === 2) await idle(place, leaving);
    else await listening({ ...place, signal: leaving }, () => undefined);
    await wait(Math.random() * 500);
  }
  return count;
}

/** Opens the stream, reads none of it, and is gone. */
function idle({ port, key }: Place, signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    const request = get({ port, path: "/api/events", headers: { "x-api-key": key }, agent: new Agent() }, (response) =>
      response.pause(),
    );
    request.on("error", () => resolve());
    signal.addEventListener("abort", () => {
      request.destroy();
      resolve();
    });
  });
}
