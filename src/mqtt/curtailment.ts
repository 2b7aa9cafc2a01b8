import type { Curtailment } from "../contract/curtailment.ts";
import type { MiningService } from "../contract/service.ts";
import { caller } from "./command-inbox.ts";
import { PolledTopics, type PolledTopicsOptions } from "./polled-topics.ts";
import type { Topics } from "./topics.ts";

export interface CurtailmentTopicsOptions extends PolledTopicsOptions {
  readonly service: Pick<MiningService, "listCurtailments" | "previewCurtailment">;
  readonly topics: Topics;
  /** Whether curtailments are begun over MQTT, by programs that need to know how much could be given up. */
  readonly isControllable: boolean;
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

/** Publishes the curtailments under way. */
export class CurtailmentTopics extends PolledTopics {
  readonly #options: CurtailmentTopicsOptions;
  /** W that all rigs could give up; null = not known. `at`: epoch ms. */
  #available: { readonly watts: number | null; readonly at: number } | null = null;

  constructor(options: CurtailmentTopicsOptions) {
    super(options, "listCurtailments");
    this.#options = options;
  }

  protected async readAndPublish(isOffered: boolean): Promise<void> {
    const { service, topics, isControllable } = this.#options;
    if (!isOffered) return;
    const active = await service.listCurtailments({ active: true, limit: mostActive }, caller);
    const available = isControllable ? { available_kw: kilowatts(await this.#availableWatts()) } : {};
    this.publishState(topics.curtailment.state, JSON.stringify({ ...curtailmentState(active), ...available }));
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

/** The content of the state topic. */
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
