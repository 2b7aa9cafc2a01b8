import type { Logger } from "pino";
import { type BackOff, backOffMs } from "../../async/index.ts";
import type { Messages } from "../../contract/messages.ts";
import { RigbridgeError } from "../../contract/problems.ts";
import type { MiningService } from "../../contract/service.ts";
import { briefOf } from "../../fleet/state.ts";
import type { Store } from "../../store/index.ts";
import { runPaced } from "../commands/run-paced.ts";
import type { Entry, MinerRegistry } from "../miners/miner-registry.ts";
import type { Notices } from "../notifications/notices.ts";
import { type Follower, mayRise } from "./follow-law.ts";
import { type Demand, type RoomLeft, settingOf, targetValue } from "./loop-rig.ts";
import type { PowerHolds } from "./power-holds.ts";
import { isMining } from "./power-ladder.ts";
import type { PowerTargets } from "./power-targets.ts";
import { actorFor, type PowerHold } from "./precedence.ts";

export interface LoopContext {
  readonly registry: MinerRegistry;
  readonly store: Store;
  readonly power: PowerTargets;
  readonly holds: PowerHolds;
  /** Of a miner's room: what its rigs that are among these may take together; null without a maximum. */
  readonly rooms: { leftAmong(ids: ReadonlySet<number>): (minerId: number) => RoomLeft | null };
  /** Epoch ms. */
  readonly now: () => number;
  readonly runOnRig: MiningService["minerAction"];
  readonly notices: Notices;
  /** The broker of topics; null without one. */
  readonly messages: Messages | null;
  readonly log: Logger;
}

/** ms after which a rig's power is too old to compare with a meter's value. */
const maxReadingAgeMs = 15_000;
/** Rigs read or set at once. */
const atOnce = 64;
/** ms until the command to a rig that refused is repeated: the first time, and at most. */
const retryDelays: BackOff = { firstMs: 60_000, longestMs: 1_800_000 };

/** Less power before more, so that neither the sum nor the maximum of a room is exceeded meanwhile. */
export async function inOrder(
  demands: readonly Demand[],
  rigs: readonly Follower[],
  set: (some: readonly { readonly id: number; readonly value: number }[]) => Promise<void>,
): Promise<void> {
  const byId = new Map(rigs.map((rig) => [rig.id, rig]));
  const found = demands.flatMap(({ id, watts }) => {
    const rig = byId.get(id);
    return rig === undefined ? [] : [{ id, value: targetValue(rig.ladder, watts), isLess: watts < settingOf(rig) }];
  });
  for (const isLess of [true, false]) {
    const some = found.filter((each) => each.isLess === isLess);
    if (some.length > 0) await set(some);
  }
}

/** Errors that pass without action, or that are notified elsewhere. */
const notNotified: readonly string[] = ["not.possible", "not.found", "rig.unreachable", "rig.timeout", "store.full"];

/** The rigs of all loops: their state, the last command about their power, and setting their power. */
export class LoopRigs {
  readonly #context: LoopContext;
  readonly #closing = new AbortController();
  readonly #failures = new Map<number, { readonly count: number; readonly until: number }>();
  /** Problems that were notified, until they are over. */
  readonly #notified = new Set<string>();

  constructor(context: LoopContext) {
    this.#context = context;
  }

  /**
   * Those of these rigs whose power can be set. `returnedAt`: epoch ms up to which manual settings no longer count.
   */
  async followers(loop: string, entries: readonly Entry[], returnedAt = Number.NEGATIVE_INFINITY): Promise<Follower[]> {
    await this.#context.holds.load(entries);
    const left = this.#context.rooms.leftAmong(new Set(entries.map(({ facts }) => facts.id)));
    return entries.flatMap((entry) => {
      const held = this.#heldBy(entry, returnedAt);
      const stopped = `${entry.facts.name} was started and does not mine; it is left alone until it mines again`;
      this.#notifyOnce(held === "rig" ? stopped : null, "stands", loop, entry.facts);
      return this.#follower(entry, held === null, left);
    });
  }

  /** The same for setting rigs, no matter who controls their power. */
  overruled(entries: readonly Entry[]): Follower[] {
    return entries.flatMap((entry) => this.#follower(entry, true, () => null));
  }

  /** Whether a rig is left alone now; `returnedAt` as in `followers`. */
  isHeld(entry: Entry, returnedAt?: number): boolean {
    return this.#heldBy(entry, returnedAt) !== null;
  }

  /** Whether the last command about the power of a rig came from a loop and stopped the rig. */
  isStoppedByLoop(minerId: number): boolean {
    const last = this.#context.holds.last(minerId);
    return last?.by === "loop" && last.stops;
  }

  /** Reads the rigs again whose readings are too old. */
  async readAgain(entries: readonly Entry[]): Promise<void> {
    const { registry, now } = this.#context;
    const old = entries.filter(({ rig: { state } }) => state.missed === 0 && now() - (state.at ?? 0) > maxReadingAgeMs);
    await this.#each(old, ({ rig }) => registry.fleet.poll(rig));
  }

  /** Sets the power of these rigs; resolves when they have answered or need longer. */
  async apply(
    loop: string,
    demands: readonly Demand[],
    rigs: readonly Follower[],
    actor: string = actorFor(loop),
  ): Promise<void> {
    const { registry } = this.#context;
    await inOrder(demands, rigs, (some) =>
      this.#each(some, async ({ id, value }) => {
        const entry = registry.find(id);
        if (entry !== undefined) await this.#setPower(loop, entry, value, actor);
      }),
    );
  }

  close(): void {
    this.#closing.abort();
  }

  #each<T extends NonNullable<unknown>>(items: readonly T[], work: (item: T) => Promise<void>): Promise<void> {
    const wait = () => Promise.resolve();
    return runPaced(items, { parallel: atOnce, delayMs: 0, signal: this.#closing.signal, wait }, work);
  }

  #heldBy(entry: Entry, returnedAt?: number): PowerHold["by"] | null {
    return this.#context.holds.holdFor(entry, { rank: "loop", stops: false }, returnedAt)?.by ?? null;
  }

  #follower({ facts, rig }: Entry, isFree: boolean, left: (minerId: number) => RoomLeft | null): Follower[] {
    const { power, now } = this.#context;
    const { id } = facts;
    const { controls, trouble, missed } = rig.state;
    const reading = briefOf(rig.state);
    const ladder = power.ladder(id, { controls, reading });
    if (ladder === null || reading === null || trouble !== null || missed > 0 || rig.declared.disabled) return [];
    const mining = isMining(reading.controls, reading.readings.mining) !== false;
    const waits = now() < (this.#failures.get(id)?.until ?? 0);
    return [
      {
        id,
        ladder,
        mining,
        draw: reading.readings.power ?? (mining ? (ladder.present ?? 0) : 0),
        room: left(id),
        free: isFree && !waits && !this.#context.holds.isOpen(id),
        permits: (watts) => power.permission(id, reading, watts).now,
        wears: (watts) => power.wears(id, reading, watts),
        // Only laws ask; a room of 500 rigs is shown without.
        get mayRise() {
          return mayRise(power.changes(id), now());
        },
      },
    ];
  }

  /** Notifies of a problem once; null ends it. */
  #notifyOnce(message: string | null, kind: string, loop: string, { id: minerId, name }: Entry["facts"]): void {
    const key = `loop:${loop}:${kind}:${minerId}`;
    const { notices } = this.#context;
    if (message === null) {
      this.#notified.delete(key);
      notices.close(key, `${name} follows again`);
    } else if (!this.#notified.has(key)) {
      this.#notified.add(key);
      notices.raise({ key, minerId, title: loop, source: "System", message, severity: "warning" });
    }
  }

  async #setPower(loop: string, { facts }: Entry, value: number, actor: string): Promise<void> {
    const { id, name } = facts;
    try {
      const action = { action: "set", property: "power_target", value: String(value) } as const;
      await this.#context.runOnRig({ id, ...action }, { actor });
      this.#failures.delete(id);
      this.#notifyOnce(null, "refuses", loop, facts);
    } catch (error) {
      if (this.#closing.signal.aborted) return;
      const message = this.#backOff(id, error);
      if (message !== null)
        this.#notifyOnce(`${name} was not brought to ${Math.round(value)} W: ${message}`, "refuses", loop, facts);
    }
  }

  /** Delays the next command to the rig; returns the message for a notification, or null. */
  #backOff(id: number, error: unknown): string | null {
    const { now, log } = this.#context;
    const count = (this.#failures.get(id)?.count ?? 0) + 1;
    const wait = backOffMs(count, retryDelays);
    this.#failures.set(id, { count, until: now() + wait });
    if (error instanceof RigbridgeError) return notNotified.includes(error.code) ? null : error.message;
    log.error({ err: error, miner: id }, "a loop could not send a command");
    return "internal error; see the service's log";
  }
}
