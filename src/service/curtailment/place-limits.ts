import type { Logger } from "pino";
import { CurtailmentRestore } from "../../contract/curtailment.ts";
import { coded } from "../../messages/coded.ts";
import type { Notices } from "../notifications/notices.ts";
import type { PlaceNode } from "../places/place-book.ts";
import type { Curtailments, NewCurtailment } from "./curtailments.ts";
import { type LimitTurn, type LimitWatch, limitTurn, powerOfPlace, unwatched, usedShare } from "./limit-law.ts";
import { PacedTurns, restFactor } from "./paced-turns.ts";
import type { RunningCurtailment } from "./running-curtailment.ts";
import { assumedPower, rigsIn, type ScopeContext } from "./scope-rigs.ts";

interface PlaceLimitsContext {
  readonly scopes: ScopeContext;
  readonly curtailments: Curtailments;
  readonly notices: Notices;
  readonly log: Logger;
  /** ms of the monotonic clock. */
  readonly monotonicNow: () => number;
}

/** States of rigs that a limit still has to give back power to, or is doing so. */
const holding: ReadonlySet<string> = new Set(["due", "sent", "reached", "restoring"]);

/** The actor of curtailments for the limits of places. */
const actor = "service for the limits of places";

/** Rigs that are lowered at once in an emergency, and s that a lower power may take instead of a stop. */
const atOnce = { parallel: 1_000, deadline: 10 };
const orderly = { parallel: 50, deadline: 300 };

/** Holds places with `maxPower` to it: each has a curtailment as long as its rigs would take more. No protection device. */
export class PlaceLimits {
  readonly #context: PlaceLimitsContext;
  readonly #watches = new Map<number, LimitWatch>();
  /** Places about which a notice may be open. */
  readonly #noticed = new Set<string>();
  readonly #turns: PacedTurns;

  constructor(context: PlaceLimitsContext) {
    this.#context = context;
    this.#turns = new PacedTurns(() => this.#turn(), context.monotonicNow);
  }

  /** One turn over all places that have a limit, unless one is under way. Never rejects. */
  turn(): Promise<void> {
    return this.#turns.run();
  }

  settled(): Promise<void> {
    return this.#turns.settled();
  }

  /** Resolves with ms to rest. */
  async #turn(): Promise<number> {
    const { monotonicNow, scopes } = this.#context;
    const began = monotonicNow();
    const limited = scopes.places.all().filter(({ row }) => row.maxPower !== undefined);
    const ids = new Set(limited.map(({ row }) => row.id));
    for (const id of this.#watches.keys()) if (!ids.has(id)) this.#watches.delete(id);
    const looks: { readonly place: PlaceNode; readonly look: LimitTurn }[] = [];
    for (const place of limited) looks.push({ place, look: await this.#look(place) });
    const workMs = monotonicNow() - began;
    const unlimited = this.#running().filter(({ row }) => {
      const [id] = row.scope?.places ?? [];
      return typeof id !== "number" || !ids.has(id);
    });
    // All at once: while the store is away, each waits for it.
    await Promise.all([
      ...unlimited.map((each) => this.#end(each)),
      ...looks.map(({ place, look }) => this.#hold(place, look)),
    ]);
    return restFactor * workMs;
  }

  #running(): readonly RunningCurtailment[] {
    return this.#context.curtailments.running.filter(({ row }) => row.cause === "limit" && row.ended === null);
  }

  /** What a place takes, and what is to be done about it. */
  async #look({ row: { id, name, maxPower = 0, meter: key } }: PlaceNode): Promise<LimitTurn> {
    const { scopes, monotonicNow } = this.#context;
    const meter = key === undefined ? undefined : (scopes.devices.find(key)?.state.values.power ?? null);
    const rigs = await rigsIn({ places: [id] }, "listed", scopes);
    const watts = powerOfPlace(
      meter,
      rigs.reduce((sum, each) => sum + assumedPower(each), 0),
    );
    this.#notice(`place-meter:${id}`, meter === null, coded("notices.placeLimit.meter", { place: name }), () =>
      coded("notices.placeLimit.meterOver", { place: name }),
    );
    const look = limitTurn(watts, maxPower, this.#watches.get(id) ?? unwatched, monotonicNow());
    this.#watches.set(id, look.watch);
    const figures = { place: name, watts: Math.round(watts), maximum: maxPower };
    this.#notice(`place-limit:${id}`, look.wants === "at-once", coded("notices.placeLimit.over", figures), () =>
      coded("notices.placeLimit.within", { place: name, maximum: maxPower }),
    );
    return look;
  }

  async #hold({ row: { id, name, maxPower = 0 } }: PlaceNode, { watch, wants }: LimitTurn): Promise<void> {
    const { curtailments, log } = this.#context;
    const running = this.#running().find(({ row }) => row.scope?.places?.[0] === id);
    try {
      const target = { limit: maxPower * usedShare };
      if (running === undefined) {
        if (wants !== "nothing") await curtailments.begin(this.#new(id, name, target, wants === "at-once"));
        return;
      }
      if (wants === "at-once" && running.row.order !== "power") await running.change({ order: "power", ramp: atOnce });
      if (running.row.target.limit !== target.limit) await curtailments.change(running, { target });
      const isIdle = ![...running.rigs.values()].some(({ state }) => holding.has(state));
      if (isIdle && watch.near === null) await this.#end(running);
    } catch (error) {
      log.error({ err: error, place: id }, "the limit of a place could not be held");
    }
  }

  #new(id: number, name: string, target: { readonly limit: number }, isOver: boolean): NewCurtailment {
    return {
      plan: null,
      key: null,
      reason: `Limit of ${name}`,
      cause: "limit",
      actor,
      userId: null,
      drill: false,
      safety: true,
      urgent: true,
      scope: { places: [id] },
      target,
      order: isOver ? "power" : "efficiency",
      level: "setpoint",
      ramp: isOver ? atOnce : orderly,
      restore: CurtailmentRestore.parse({}),
      until: null,
    };
  }

  async #end(running: RunningCurtailment): Promise<void> {
    const { curtailments, log } = this.#context;
    await curtailments
      .end(running)
      .catch((error: unknown) =>
        log.error({ err: error, curtailment: running.id }, "a curtailment could not be ended"),
      );
  }

  #notice(key: string, isOpen: boolean, message: ReturnType<typeof coded>, over: () => ReturnType<typeof coded>): void {
    const { notices } = this.#context;
    if (isOpen === this.#noticed.has(key)) return;
    if (isOpen) {
      this.#noticed.add(key);
      notices.raise({ key, minerId: null, title: null, source: "System", message, severity: "critical" });
    } else {
      this.#noticed.delete(key);
      notices.close(key, over());
    }
  }
}
