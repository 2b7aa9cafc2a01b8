import { Background } from "../../async/index.ts";
import type { StoredCurtailedRig, StoredCurtailment } from "../../store/index.ts";
import { curtailmentActor } from "../power/precedence.ts";
import type { CurtailedRigs } from "./curtailed-rigs.ts";
import { rankOfCurtailment } from "./curtailment-figures.ts";
import type { RigOrders } from "./rig-orders.ts";
import type { FindRig } from "./scope-rigs.ts";

/** A command that is sent once it is stored. */
interface ChosenCommand {
  readonly minerId: number;
  /** The rig without it. */
  readonly before: StoredCurtailedRig;
  send(): void;
}

/** Sends the rigs of a curtailment their commands, so many at once. */
export class RigCommands {
  readonly #id: number;
  readonly #rigs: CurtailedRigs;
  readonly #context: { readonly orders: RigOrders; readonly now: () => number };
  readonly #sending = new Background();
  #open = 0;

  /** `id`: that of the curtailment; `now`: epoch ms. */
  constructor(id: number, rigs: CurtailedRigs, context: { readonly orders: RigOrders; readonly now: () => number }) {
    this.#id = id;
    this.#rigs = rigs;
    this.#context = context;
  }

  /** Commands under way. */
  get open(): number {
    return this.#open;
  }

  /** The rigs whose turn it is, marked as sent: that is stored before they are sent anything. `waiting`: those to restore. */
  choose(row: StoredCurtailment, find: FindRig, waiting: readonly number[]): readonly ChosenCommand[] {
    const { ramp, restore, urgent } = row;
    const { orders, now } = this.#context;
    const actor = curtailmentActor(this.#id, rankOfCurtailment(row));
    const chosen: ChosenCommand[] = [];
    const choose = (minerId: number, rig: StoredCurtailedRig, send: () => Promise<string | null>): void => {
      this.#rigs.set(minerId, {
        ...rig,
        state: rig.state === "due" ? "sent" : rig.state,
        sent: now(),
        tries: rig.tries + 1,
      });
      chosen.push({ minerId, before: rig, send: () => this.#send(minerId, send()) });
    };
    for (const id of this.#rigs.those(({ state }) => state === "due")) {
      const [rig, found] = [this.#rigs.get(id), find(id)];
      if (this.#open + chosen.length >= ramp.parallel) break;
      if (rig !== undefined && found?.view.reachable === true)
        choose(id, rig, () => orders.lower(found.entry, rig.wanted, actor, urgent));
    }
    for (const id of waiting) {
      const [rig, found] = [this.#rigs.get(id), find(id)];
      if (this.#open + chosen.length >= restore.parallel) break;
      if (rig !== undefined && found !== null)
        choose(id, rig, () => orders.raise(found.entry, rig.before.setting, rig.before.power ?? 0, actor));
    }
    return chosen;
  }

  async settled(): Promise<void> {
    await this.#sending.settled();
  }

  #send(minerId: number, sending: Promise<string | null>): void {
    this.#open += 1;
    const ended = sending.then((why) => {
      this.#open -= 1;
      const rig = this.#rigs.get(minerId);
      if (why !== null && rig !== undefined && (rig.state === "sent" || rig.state === "restoring"))
        this.#rigs.set(minerId, { ...rig, message: why });
    });
    void this.#sending.add(ended);
  }
}
