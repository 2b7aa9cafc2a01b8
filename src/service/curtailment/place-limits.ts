import type { Logger } from "pino";
import { CurtailmentRestore } from "../../contract/curtailment.ts";
import { coded } from "../../messages/coded.ts";
import type { Notices } from "../notifications/notices.ts";
import type { PlaceNode } from "../places/place-book.ts";
import type { Curtailments, NewCurtailment } from "./curtailments.ts";
import { restFactor } from "./curtailments.ts";
import { type LimitWatch, limitTurn, powerOfPlace, unwatched, usedShare } from "./limit-law.ts";
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
  #turning: Promise<void> | null = null;
  #restsUntil = Number.NEGATIVE_INFINITY;

  constructor(context: PlaceLimitsContext) {
    this.#context = context;
  }

  /** One turn over all places that have a limit, unless one is under way. Never rejects. */
  turn(): Promise<void> {
    this.#turning ??= this.#turn().finally(() => {
      this.#turning = null;
    });
    return this.#turning;
  }

  async settled(): Promise<void> {
    await this.#turning;
  }

  async #turn(): Promise<void> {
    const { monotonicNow } = this.#context;
    if (monotonicNow() < this.#restsUntil) return;
    const began = monotonicNow();
    await this.#holdAll();
    this.#restsUntil = monotonicNow() + restFactor * (monotonicNow() - began);
  }

  async #holdAll(): Promise<void> {
    const { places } = this.#context.scopes;
    const limited = places.all().filter(({ row }) => row.maxPower !== undefined);
    const ids = new Set(limited.map(({ row }) => row.id));
    for (const id of this.#watches.keys()) if (!ids.has(id)) this.#watches.delete(id);
    for (const each of this.#running()) {
      const [id] = each.row.scope?.places ?? [];
      if (typeof id !== "number" || !ids.has(id)) await this.#end(each);
    }
    for (const place of limited) await this.#hold(place);
  }

  #running(): readonly RunningCurtailment[] {
    return this.#context.curtailments.running.filter(({ row }) => row.cause === "limit" && row.ended === null);
  }

  async #hold({ row: { id, name, maxPower = 0, meter: key } }: PlaceNode): Promise<void> {
    const { scopes, curtailments, monotonicNow, log } = this.#context;
    const running = this.#running().find(({ row }) => row.scope?.places?.[0] === id);
    const meter = key === undefined ? undefined : (scopes.devices.find(key)?.state.values.power ?? null);
    const rigs = await rigsIn({ places: [id] }, "listed", scopes);
    const watts = powerOfPlace(
      meter,
      rigs.reduce((sum, each) => sum + assumedPower(each), 0),
    );
    this.#notice(`place-meter:${id}`, meter === null, coded("notices.placeLimit.meter", { place: name }), () =>
      coded("notices.placeLimit.meterOver", { place: name }),
    );
    const { watch, wants } = limitTurn(watts, maxPower, this.#watches.get(id) ?? unwatched, monotonicNow());
    this.#watches.set(id, watch);
    const figures = { place: name, watts: Math.round(watts), maximum: maxPower };
    this.#notice(`place-limit:${id}`, wants === "at-once", coded("notices.placeLimit.over", figures), () =>
      coded("notices.placeLimit.within", { place: name, maximum: maxPower }),
    );
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
