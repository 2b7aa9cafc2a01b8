import type { Logger } from "pino";
import { type BackOff, backOffMs } from "../../async/index.ts";
import type { Messages } from "../../contract/messages.ts";
import { RigbridgeError } from "../../contract/problems.ts";
import type { MiningService } from "../../contract/service.ts";
import { briefOf } from "../../fleet/state.ts";
import { coded } from "../../messages/coded.ts";
import type { CodedText } from "../../messages/coded-text.ts";
import type { Store, StoredCommand } from "../../store/index.ts";
import { runPaced } from "../commands/run-paced.ts";
import type { Entry } from "../miners/miner-entries.ts";
import type { MinerRegistry } from "../miners/miner-registry.ts";
import type { Notices } from "../notifications/notices.ts";
import { type Follower, mayRise } from "./follow-law.ts";
import { isSameSetting } from "./learned-rungs.ts";
import { type Demand, type RoomLeft, settingOf, targetValue } from "./loop-rig.ts";
import type { PowerHolds } from "./power-holds.ts";
import { isMining, type PowerLadder } from "./power-ladder.ts";
import type { PowerTargets } from "./power-targets.ts";
import { actorFor, type PowerHold } from "./precedence.ts";

export interface LoopContext {
  readonly registry: MinerRegistry;
  readonly store: Store;
  readonly power: PowerTargets;
  readonly holds: PowerHolds;
  /** For a miner's room: the power that its rigs among these may take together; null without a limit. */
  readonly rooms: { leftAmong(ids: ReadonlySet<number>): (minerId: number) => RoomLeft | null };
  /** Epoch ms. */
  readonly now: () => number;
  readonly runOnRig: MiningService["minerAction"];
  readonly notices: Notices;
  /** The broker for topics. */
  readonly messages: Messages;
  readonly log: Logger;
}

/** ms after which a rig's power is too old to compare with a meter's value. */
const maxReadingAgeMs = 15_000;
/** Rigs read or set concurrently. */
const atOnce = 64;
/** ms until a refused command is retried: the first time, and at most. */
const retryDelays: BackOff = { firstMs: 60_000, longestMs: 1_800_000 };
/** Retry delays for a wearing change with an unknown result: each try may restart the rig. */
const unknownDelays: BackOff = { firstMs: 1_800_000, longestMs: 21_600_000 };

/** Lowers before raising, so that neither the sum nor the limit of a room is exceeded in between. */
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

/** A change that a rig refused, or whose result is unknown. */
interface Failure {
  readonly count: number;
  /** Epoch ms of the next retry. */
  readonly until: number;
  /** For a wearing change with an unknown result, epoch ms: until then loops may only stop the rig. */
  readonly pausedUntil: number | null;
  readonly sent: Sent;
}

/** The last change that was sent to a rig. */
interface Sent {
  readonly loop: string;
  readonly facts: Entry["facts"];
  /** W. */
  readonly value: number;
  readonly wears: boolean;
  readonly actor: string;
  /** Its result, once the rig has it. */
  end: StoredCommand | null;
  /** Whether the rig needs longer than a request waits. */
  isLate: boolean;
}

/** The rigs of all loops: their state, the last command about their power, and setting their power. */
export class LoopRigs {
  readonly #context: LoopContext;
  readonly #closing = new AbortController();
  readonly #failures = new Map<number, Failure>();
  readonly #sent = new Map<number, Sent>();
  /** Problems that were notified and have not ended. */
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
      const stopped = held === "rig" ? coded("notices.loop.stopped", { rig: entry.facts.name }) : null;
      this.#notifyOnce(stopped, "stands", loop, entry.facts);
      const unmeasured = this.#isUnmeasured(entry) ? coded("notices.loop.unmeasured", { rig: entry.facts.name }) : null;
      this.#notifyOnce(unmeasured, "unmeasured", loop, entry.facts);
      return this.#follower(entry, { isHeld: held !== null }, left);
    });
  }

  /** Like `followers`, no matter what controls the rigs' power. */
  overruled(entries: readonly Entry[]): Follower[] {
    return entries.flatMap((entry) => this.#follower(entry, null, () => null));
  }

  /** Whether loops leave a rig alone now; `returnedAt` as in `followers`. */
  isHeld(entry: Entry, returnedAt?: number): boolean {
    return this.#heldBy(entry, returnedAt) !== null;
  }

  /** Whether the last command about the power of a rig came from a loop and stopped the rig. */
  isStoppedByLoop(minerId: number): boolean {
    const last = this.#context.holds.last(minerId);
    return last?.by === "loop" && last.stops;
  }

  /** Reads rigs with outdated readings again. */
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
    const byId = new Map(rigs.map((rig) => [rig.id, rig]));
    await inOrder(demands, rigs, (some) =>
      this.#each(some, async ({ id, value }) => {
        const [facts, rig] = [registry.find(id)?.facts, byId.get(id)];
        if (facts === undefined || rig === undefined) return;
        const wears = !isStop(rig.ladder, value) && rig.wears(value);
        await this.#setPower({ loop, facts, value, wears, actor, end: null, isLate: false });
      }),
    );
  }

  /** Receives every command when its state changes: the result of a change may arrive minutes later. */
  onCommand(command: StoredCommand): void {
    const sent = this.#sent.get(command.minerId);
    if (sent === undefined || sent.actor !== command.actor) return;
    if (command.state === "queued" || command.state === "sent") return;
    sent.end = command;
    if (sent.isLate) this.#endLate(sent);
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

  /** Whether it is stopped and can only be started, but no loop does that, since its power is not known. */
  #isUnmeasured({ facts: { id }, rig: { state, declared } }: Entry): boolean {
    const reading = briefOf(state);
    if (reading === null || state.missed > 0 || declared.disabled) return false;
    const canStart = state.controls.some(({ key }) => key === "mining");
    const isStopped = isMining(reading.controls, reading.readings.mining) === false;
    return canStart && isStopped && this.#context.power.ladder(id, { controls: state.controls, reading }) === null;
  }

  /** `asked`: for a loop; null for callers that take precedence over loops. */
  #follower(
    { facts, rig }: Entry,
    asked: { readonly isHeld: boolean } | null,
    left: (minerId: number) => RoomLeft | null,
  ): Follower[] {
    const { power, now } = this.#context;
    const { id } = facts;
    const { controls, trouble, missed } = rig.state;
    const reading = briefOf(rig.state);
    const ladder = power.ladder(id, { controls, reading });
    if (ladder === null || reading === null || trouble !== null || missed > 0 || rig.declared.disabled) return [];
    const mining = isMining(reading.controls, reading.readings.mining) !== false;
    const failure = this.#failureOf(id, ladder);
    const isPaused = asked !== null && now() < (failure?.pausedUntil ?? 0);
    const waits = !isPaused && now() < (failure?.until ?? 0);
    return [
      {
        id,
        ladder,
        mining,
        draw: reading.readings.power ?? (mining ? (ladder.present ?? 0) : 0),
        room: left(id),
        free: asked?.isHeld !== true && !waits && !this.#context.holds.isOpen(id),
        permits: (watts) => (!isPaused || isStop(ladder, watts)) && power.permission(id, reading, watts).now,
        wears: (watts) => power.wears(id, reading, watts),
        // Only laws need it; a room of 500 rigs is shown without.
        get mayRise() {
          return mayRise(power.changes(id), now());
        },
      },
    ];
  }

  /** The last failure; a change that the rig shows by now has not failed. */
  #failureOf(id: number, { present }: PowerLadder): Failure | undefined {
    const failure = this.#failures.get(id);
    const isUnknown = failure !== undefined && failure.pausedUntil !== null;
    if (!isUnknown || present === null || !isSameSetting(failure.sent.value, present)) return failure;
    this.#succeeded(failure.sent);
    return undefined;
  }

  /** Notifies of a problem once; null ends it. */
  #notifyOnce(message: CodedText | null, kind: string, loop: string, { id: minerId, name }: Entry["facts"]): void {
    const key = `loop:${loop}:${kind}:${minerId}`;
    const { notices } = this.#context;
    if (message === null) {
      this.#notified.delete(key);
      notices.close(key, coded("notices.loop.over", { rig: name }));
    } else if (!this.#notified.has(key)) {
      this.#notified.add(key);
      notices.raise({ key, minerId, title: loop, source: "System", message, severity: "warning" });
    }
  }

  async #setPower(sent: Sent): Promise<void> {
    const { facts, value, actor } = sent;
    const { id } = facts;
    this.#sent.set(id, sent);
    try {
      const action = { action: "set", property: "power_target", value: String(value) } as const;
      await this.#context.runOnRig({ id, ...action }, { actor });
      sent.isLate = true;
      this.#endLate(sent);
    } catch (error) {
      this.#sent.delete(id);
      if (!this.#closing.signal.aborted) this.#failed(sent, this.#messageOf(id, error));
    }
  }

  /** Handles the result once the rig has confirmed it or its time has run out. */
  #endLate(sent: Sent): void {
    const { end, facts } = sent;
    if (end === null) return;
    this.#sent.delete(facts.id);
    if (end.state === "done") this.#succeeded(sent);
    else if (!this.#closing.signal.aborted) this.#failed(sent, end.message);
  }

  #succeeded({ loop, facts }: Sent): void {
    this.#failures.delete(facts.id);
    this.#notifyOnce(null, "refuses", loop, facts);
  }

  /** Delays the next command to the rig. `message`: for a notification; null: none. */
  #failed(sent: Sent, message: string | null): void {
    const { loop, facts, value, wears, end } = sent;
    const { id, name } = facts;
    const now = this.#context.now();
    const count = (this.#failures.get(id)?.count ?? 0) + 1;
    const pausedUntil = wears && end?.state === "unknown" ? now + backOffMs(count, unknownDelays) : null;
    this.#failures.set(id, { count, until: now + backOffMs(count, retryDelays), pausedUntil, sent });
    if (message !== null)
      this.#notifyOnce(
        coded("notices.loop.refuses", { rig: name, watts: Math.round(value), why: message }),
        "refuses",
        loop,
        facts,
      );
  }

  /** For a notification; null if it passes without action or is notified elsewhere. */
  #messageOf(id: number, error: unknown): string | null {
    if (error instanceof RigbridgeError) return notNotified.includes(error.code) ? null : error.message;
    this.#context.log.error({ err: error, miner: id }, "a loop could not send a command");
    return "internal error; see the service's log";
  }
}

const isStop = ({ lowest }: PowerLadder, watts: number): boolean => watts < Math.floor(lowest);
