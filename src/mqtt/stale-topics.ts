import type { Message, MqttLink } from "./mqtt-link.ts";
import type { Publishing } from "./publishing.ts";
import type { Topics } from "./topics.ts";

/** The broker has this long to deliver retained messages once it has answered. */
const listenMs = 3_000;

/** Clears, once, what an earlier run retained for miners and groups that no longer exist. */
export class StaleTopics {
  readonly #connection: MqttLink;
  readonly #publishing: Publishing;
  readonly #kinds: readonly { readonly thing: "miner" | "group"; readonly filter: string; readonly at: number }[];
  /** By topic: whether it still belongs to nothing. */
  readonly #found = new Map<string, () => boolean>();
  #isDone = false;

  constructor(connection: MqttLink, topics: Topics, publishing: Publishing) {
    this.#connection = connection;
    this.#publishing = publishing;
    const at = topics.info.split("/").length - 1;
    const root = topics.summary.split("/").slice(0, -1).join("/");
    this.#kinds = [
      { thing: "miner", filter: `${root}/miner/+/availability`, at },
      { thing: "miner", filter: `${root}/miner/+/state`, at },
      { thing: "group", filter: `${root}/group/+/state`, at },
    ];
  }

  /** Call it once the miners and groups are known, and Home Assistant has removed the devices of others. */
  sweep(): void {
    if (this.#isDone) return;
    this.#isDone = true;
    const filters = this.#kinds.map(({ filter }) => filter);
    const done = (): void => {
      // Listens again after the next connect.
      if (!this.#connection.isConnected) return;
      this.#connection.unsubscribe(filters);
      for (const [topic, isStale] of this.#found) if (isStale()) this.#publishing.empty(topic);
      this.#found.clear();
    };
    let timer: NodeJS.Timeout | undefined;
    const answered = (): void => {
      clearTimeout(timer);
      timer = setTimeout(done, listenMs).unref();
    };
    for (const { thing, filter, at } of this.#kinds)
      this.#connection.subscribe([filter], (message) => this.#check(message, thing, at), { qos: 0, answered });
  }

  /** Another bridge may retain topics: the next call of `sweep` begins again. */
  again(): void {
    this.#isDone = false;
  }

  #check({ topic, payload, retained }: Message, thing: "miner" | "group", at: number): void {
    const id = topic.split("/")[at] ?? "";
    const isStale = (): boolean => this.#publishing.has(thing, id) === false;
    if (retained && payload.length > 0 && isStale()) this.#found.set(topic, isStale);
  }
}
