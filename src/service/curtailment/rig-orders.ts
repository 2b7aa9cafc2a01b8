import { RigbridgeError } from "../../contract/problems.ts";
import type { MiningService } from "../../contract/service.ts";
import { briefOf } from "../../fleet/state.ts";
import type { Entry } from "../miners/miner-entries.ts";
import { targetValue } from "../power/loop-rig.ts";
import { isMining, type PowerLadder } from "../power/power-ladder.ts";
import type { PowerTargets } from "../power/power-targets.ts";
import { type RigView, unseenAfterMs } from "./curtailed-rig.ts";

interface RigOrdersContext {
  readonly power: PowerTargets;
  readonly runOnRig: MiningService["minerAction"];
  /** Epoch ms. */
  readonly now: () => number;
}

interface Order {
  readonly watts: number;
  readonly raises: boolean;
  readonly at: number;
  isOpen: boolean;
}

/** What rigs are sent for curtailments, and what they take: one for all curtailments, since a rig has one power. */
export class RigOrders {
  readonly #context: RigOrdersContext;
  readonly #orders = new Map<number, Order>();

  constructor(context: RigOrdersContext) {
    this.#context = context;
  }

  view(entry: Entry): RigView {
    const { state, declared } = entry.rig;
    const reading = briefOf(state);
    const mining = reading === null ? null : isMining(reading.controls, reading.readings.mining);
    const isStopped = mining === false && reading?.readings.power == null;
    return {
      at: state.at,
      reachable: reading !== null && state.missed === 0 && state.trouble === null && !declared.disabled,
      draw: isStopped ? 0 : (reading?.readings.power ?? null),
      mining,
      setting: this.ladder(entry)?.present ?? null,
    };
  }

  /** How a rig's power can be set; null: it cannot. */
  ladder({ facts: { id }, rig: { state } }: Entry): PowerLadder | null {
    return this.#context.power.ladder(id, { controls: state.controls, reading: briefOf(state) });
  }

  /** s that a rig may need for less power, and for a stop; null: it cannot do that. */
  seconds({ rig: { state } }: Entry): { readonly setpoint: number | null; readonly off: number | null } {
    const of = (keys: readonly string[]): number | null => {
      const controls = state.controls.filter(({ key }) => keys.includes(key));
      return controls.length === 0 ? null : Math.max(...controls.map(({ seconds }) => seconds));
    };
    return { setpoint: of(["throttle", "power_limit", "mode"]), off: of(["mining"]) };
  }

  /** W that count for a rig: what it was sent, as long as it may not show it yet, or what it takes. */
  expected(minerId: number, { reachable, draw }: RigView): number {
    const known = reachable ? (draw ?? 0) : 0;
    const order = this.#orders.get(minerId);
    if (order === undefined || Math.abs(this.#context.now() - order.at) >= unseenAfterMs) return known;
    return order.raises ? Math.max(known, order.watts) : Math.min(known, order.watts);
  }

  /** Its readings show what it was sent. */
  shown(minerId: number): void {
    if (!this.isOpen(minerId)) this.#orders.delete(minerId);
  }

  isOpen(minerId: number): boolean {
    return this.#orders.get(minerId)?.isOpen === true;
  }

  /** Sends a rig its power; resolves with why it was not taken, or null. Never rejects. */
  lower(entry: Entry, watts: number, actor: string, urgent: boolean): Promise<string | null> {
    const ladder = this.ladder(entry);
    const isStop = watts === 0 && (urgent || ladder === null);
    const request = isStop
      ? ({ action: "stop" } as const)
      : ({ action: "set", property: "power_target", value: textOf(ladder, watts) } as const);
    return this.#send(entry, request, { watts, raises: false }, actor);
  }

  /** Gives a rig back its setting, or starts it; resolves like `lower`. `watts`: what it will take. */
  raise(entry: Entry, setting: number | null, watts: number, actor: string): Promise<string | null> {
    const ladder = this.ladder(entry);
    const request =
      setting === null || ladder === null
        ? ({ action: "start" } as const)
        : ({ action: "set", property: "power_target", value: textOf(ladder, setting) } as const);
    return this.#send(entry, request, { watts, raises: true }, actor);
  }

  async #send(
    { facts: { id } }: Entry,
    request: Omit<Parameters<MiningService["minerAction"]>[0], "id">,
    order: Pick<Order, "watts" | "raises">,
    actor: string,
  ): Promise<string | null> {
    const sent: Order = { ...order, at: this.#context.now(), isOpen: true };
    this.#orders.set(id, sent);
    try {
      await this.#context.runOnRig({ id, ...request }, { actor });
      return null;
    } catch (error) {
      // It takes what it took.
      if (this.#orders.get(id) === sent) this.#orders.delete(id);
      return error instanceof RigbridgeError ? error.message : "internal error; see the service's log";
    } finally {
      sent.isOpen = false;
    }
  }
}

const textOf = (ladder: PowerLadder | null, watts: number): string =>
  String(ladder === null ? watts : targetValue(ladder, watts));
