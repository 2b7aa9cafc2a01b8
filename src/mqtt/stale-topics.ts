import type { FacilityTopics } from "./facility.ts";
import type { MqttLink } from "./mqtt-link.ts";
import type { PlaceTopics } from "./places.ts";
import type { Publishing } from "./publishing.ts";
import { readRetained } from "./read-retained.ts";
import type { Topics } from "./topics.ts";

/** After this long without another retained message, all are taken to have arrived. */
const quietMs = 3_000;

const retainedOfThings = [
  ...["miner/+/availability", "miner/+/state", "group/+/state"],
  ...["facility/+/availability", "facility/+/state", "place/+/state"],
];

/** Clears, once, what an earlier run retained for miners, groups, facility devices and places that no longer exist. */
export class StaleTopics {
  readonly #connection: MqttLink;
  readonly #publishing: Publishing;
  readonly #facility: Pick<FacilityTopics, "has">;
  readonly #places: Pick<PlaceTopics, "has">;
  readonly #root: string;
  #isDone = false;

  constructor(
    connection: MqttLink,
    topics: Topics,
    publishing: Publishing,
    facility: Pick<FacilityTopics, "has">,
    places: Pick<PlaceTopics, "has">,
  ) {
    this.#connection = connection;
    this.#publishing = publishing;
    this.#facility = facility;
    this.#places = places;
    this.#root = topics.summary.slice(0, topics.summary.lastIndexOf("/"));
  }

  /** Call it once the miners and groups are known, and Home Assistant's announcer has removed stale devices. */
  sweep(): void {
    if (this.#isDone) return;
    this.#isDone = true;
    const found: string[] = [];
    readRetained({
      connection: this.#connection,
      filters: retainedOfThings.map((each) => `${this.#root}/${each}`),
      quietMs,
      receive: ({ topic }) => found.push(topic),
      done: () => {
        for (const topic of found) if (this.#isStale(topic)) this.#publishing.empty(topic);
      },
    });
  }

  /** Another bridge may retain topics: the next call of `sweep` starts over. */
  again(): void {
    this.#isDone = false;
  }

  #isStale(topic: string): boolean {
    const [thing, id = ""] = topic.slice(this.#root.length + 1).split("/");
    if (thing === "facility") return this.#facility.has(id) === false;
    if (thing === "place") return this.#places.has(id) === false;
    return this.#publishing.has(thing === "group" ? "group" : "miner", id) === false;
  }
}
