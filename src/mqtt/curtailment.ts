import type { Curtailment } from "../contract/curtailment.ts";
import type { OperationName } from "../contract/operations.ts";
import type { MiningService } from "../contract/service.ts";
import { caller } from "./command-inbox.ts";
import type { StateLink } from "./handover.ts";
import { expirySeconds, heartbeatMs } from "./topic-state.ts";
import type { Topics } from "./topics.ts";

export interface CurtailmentTopicsOptions {
  readonly service: Pick<MiningService, "listCurtailments" | "previewCurtailment">;
  readonly connection: StateLink;
  readonly topics: Topics;
  /** Whether curtailments are begun over MQTT, by programs that need to know how much could be given up. */
  readonly isControllable: boolean;
  /** QoS of state topics. */
  readonly qos: 0 | 1;
  /** Epoch ms. */
  readonly now: () => number;
}

/** The reason of the curtailment that a target over MQTT begins, by which it is found again. */
export const targetReason = "Target over MQTT";

/** The one that a target over MQTT has begun, while it lasts. */
export const ofTarget = (active: readonly Curtailment[]): Curtailment | undefined =>
  active.find(({ plan, reason, ended }) => plan === null && reason === targetReason && ended === null);

/** All that there may be at the same time. */
export const mostActive = 1_000;

/** The newest, of which the topic has details. */
const mostPublished = 20;

/** A preview looks at every rig. */
const previewMs = 60_000;

/** Publishes the curtailments under way; no event reports their power, so they are read at an interval. */
export class CurtailmentTopics {
  readonly #options: CurtailmentTopicsOptions;
  #isOffered = false;
  #published: { readonly state: string; readonly at: number } | null = null;
  /** W that all rigs could give up; null = not known. `at`: epoch ms. */
  #available: { readonly watts: number | null; readonly at: number } | null = null;
  #reading: Promise<void> | null = null;

  constructor(options: CurtailmentTopicsOptions) {
    this.#options = options;
  }

  /** The operations of the service, which another product or an older one may lack. */
  follow(features: ReadonlySet<OperationName>): void {
    this.#isOffered = features.has("listCurtailments");
    void this.read();
  }

  /** Reads and publishes what has changed, or everything with `always`. Never rejects: the next call tries again. */
  read(always = false): Promise<void> {
    if (always) this.#published = null;
    this.#reading ??= this.#read()
      .catch(() => undefined)
      .finally(() => {
        this.#reading = null;
      });
    return this.#reading;
  }

  async #read(): Promise<void> {
    const { service, connection, topics, isControllable, qos, now } = this.#options;
    if (!this.#isOffered) return;
    const active = await service.listCurtailments({ active: true, limit: mostActive }, caller);
    const available = isControllable ? { available_kw: kilowatts(await this.#availableWatts()) } : {};
    const state = JSON.stringify({ ...curtailmentState(active), ...available });
    const isOld = this.#published === null || now() - this.#published.at >= heartbeatMs * (5 / 6);
    if (!isOld && this.#published?.state === state) return;
    this.#published = { state, at: now() };
    connection.publish({ topic: topics.curtailment.state, payload: state, qos, retain: true, expiry: expirySeconds });
  }

  /** Of the last minute. */
  async #availableWatts(): Promise<number | null> {
    const { service, now } = this.#options;
    if (this.#available !== null && now() - this.#available.at < previewMs) return this.#available.watts;
    const at = now();
    const watts = await service.previewCurtailment({ target: { all: true } }, caller).then(
      ({ power }) => power.now - power.after,
      () => null,
    );
    this.#available = { watts, at };
    return watts;
  }
}

/** What the state topic says. */
export function curtailmentState(active: readonly Curtailment[]): object {
  const shed = active.map(({ power }) => Math.max(0, power.baseline - power.now));
  return {
    active: active.some(({ ended }) => ended === null) ? "ON" : "OFF",
    // Several may hold the same rigs, so their sum could be more than what was given up.
    shed_kw: kilowatts(Math.max(0, ...shed)),
    target_kw: kilowatts(ofTarget(active)?.target.reduce ?? 0),
    curtailments: active.slice(0, mostPublished).map(curtailmentSummary),
  };
}

/** A curtailment in a state and in a response; W. */
export const curtailmentSummary = ({
  id,
  plan,
  reason,
  state,
  until,
  target,
  power,
  seconds,
}: Curtailment): object => ({
  id,
  plan,
  reason,
  state,
  until,
  target,
  power,
  seconds,
});

const kilowatts = (watts: number | null): number | null => (watts === null ? null : Math.round(watts) / 1000);
