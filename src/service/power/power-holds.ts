import { RigbridgeError } from "../../contract/problems.ts";
import { briefOf } from "../../fleet/state.ts";
import type { Detail } from "../../messages/coded-text.ts";
import { detail } from "../../messages/detail.ts";
import type { Store, StoredCommand } from "../../store/index.ts";
import type { PowerGuard } from "../commands/actions.ts";
import type { Entry } from "../miners/miner-entries.ts";
import { isMining } from "./power-ladder.ts";
import type { PowerTargets } from "./power-targets.ts";
import {
  actorFor,
  type CurtailedBy,
  isHeldBy,
  isOfCurtailment,
  isOfMaximum,
  type PowerCommand,
  type PowerHold,
  type PowerWish,
  powerCommandOf,
  powerHold,
  rankOf,
  stopsBy,
} from "./precedence.ts";

interface PowerHoldsOptions {
  readonly store: Store;
  readonly power: PowerTargets;
  /** Epoch ms. */
  readonly now: () => number;
}

/** The last setter of each rig's power, and the callers that are therefore held back. */
export class PowerHolds {
  readonly #options: PowerHoldsOptions;
  /** For rigs whose memory lacks it: their last commands are older than this version. */
  readonly #loaded = new Map<number, PowerCommand | null>();
  /** The command about its power that is still open, by rig. */
  readonly #open = new Map<number, number>();
  /** The last command that no longer counts, by rig. */
  readonly #over = new Map<number, number>();
  #curtailed: (minerId: number) => CurtailedBy | null = () => null;

  constructor(options: PowerHoldsOptions) {
    this.#options = options;
  }

  /** Has curtailments hold their rigs. */
  useCurtailments(curtailed: (minerId: number) => CurtailedBy | null): void {
    this.#curtailed = curtailed;
  }

  /** Receives every command of every actor when its state changes. */
  onCommand(command: StoredCommand): void {
    const last = powerCommandOf(command);
    const { minerId, id } = command;
    if (last?.open) this.#open.set(minerId, id);
    else if (this.#open.get(minerId) === id) this.#open.delete(minerId);
    if (last?.open !== false || id <= (this.#over.get(minerId) ?? 0) || isOfCurtailment(command.actor)) return;
    if (last.stops || !isOfMaximum(command.actor)) this.#options.power.rememberCommand(minerId, last);
  }

  /** Hands the power of a rig to its loop: settings of others, made or in progress, no longer hold the loop back. */
  handOver(minerId: number, loop: string): void {
    const open = this.#open.get(minerId);
    if (open !== undefined) this.#over.set(minerId, open);
    // Like a stop by the loop: the rig may stand still until the loop sets it.
    const command = { at: this.#options.now(), open: false, by: "loop", who: actorFor(loop), stops: true } as const;
    this.#options.power.rememberCommand(minerId, command);
  }

  /** Loads the last commands about the power of these rigs from the store, unless they are known. */
  async load(entries: readonly Entry[]): Promise<void> {
    for (const { facts } of entries) await this.#load(facts.id);
  }

  last(minerId: number): PowerCommand | null {
    return this.#options.power.lastCommand(minerId) ?? this.#loaded.get(minerId) ?? null;
  }

  /** Whether a command about the power of a rig is running. */
  isOpen(minerId: number): boolean {
    return this.#open.has(minerId);
  }

  /** What holds back a caller; null if nothing does. `returnedAt`: epoch ms up to which settings no longer count. */
  holdFor({ facts, rig }: Entry, wish: PowerWish, returnedAt = Number.NEGATIVE_INFINITY): PowerHold | null {
    const reading = briefOf(rig.state);
    if (reading === null) return null;
    const curtailed = this.#curtailed(facts.id);
    if (curtailed !== null && isHeldBy(curtailed, wish)) return { by: curtailed.rank, until: null, curtailed };
    const last = this.last(facts.id);
    const isBefore = last !== null && last.at <= returnedAt;
    const mining = isMining(reading.controls, reading.readings.mining) !== false;
    return powerHold(isBefore ? null : last, wish, mining, this.#options.now());
  }

  /** Why a sender is held back, in a sentence; null if nothing holds it. */
  refusal(entry: Entry, stops: boolean, sender: Parameters<typeof rankOf>[0], overrides = false): Detail | null {
    const hold = this.holdFor(entry, { rank: rankOf(sender), stops, overrides });
    if (hold === null) return null;
    if (hold.curtailed !== undefined) {
      const { id, reason } = hold.curtailed;
      return detail("command.curtailed", { id, reason });
    }
    const who = this.last(entry.facts.id)?.who ?? hold.by;
    return hold.until === null
      ? detail("command.held", { who })
      : detail("command.heldUntil", { who, time: new Date(hold.until).toISOString() });
  }

  /** The same for a command that has waited: only what was done since it was given holds it back. */
  refusalSince(entry: Entry, { time, ...sender }: StoredCommand): Detail | null {
    const last = this.last(entry.facts.id);
    return last === null || last.at < time ? null : this.refusal(entry, false, sender);
  }

  async #load(minerId: number): Promise<void> {
    if (this.#options.power.lastCommand(minerId) !== null || this.#loaded.has(minerId)) return;
    const commands = await this.#options.store.commands.list({ minerIds: [minerId] });
    this.#loaded.set(minerId, commands.map(powerCommandOf).find((last) => last !== null) ?? null);
  }
}

/** Holds people back while a safety rule or a curtailment for safety controls the power; loops check this themselves. */
export const powerGuard =
  (holds: PowerHolds): PowerGuard =>
  (entry, { action, parameters }, { actor }) => {
    const stops = stopsBy(action, parameters);
    const sender = { actor, cause: null };
    const refusal =
      stops === null || rankOf(sender) !== "person"
        ? null
        : holds.refusal(entry, stops, sender, parameters.override === true);
    if (refusal !== null) throw new RigbridgeError("not.possible", refusal);
  };
