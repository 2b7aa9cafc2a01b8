import { coded } from "../../messages/coded.ts";
import type { StoredCurtailedRig, StoredCurtailment } from "../../store/index.ts";
import type { Notices } from "../notifications/notices.ts";
import { advance, advanceBack, type RigView } from "./curtailed-rig.ts";
import type { CurtailedRigs } from "./curtailed-rigs.ts";
import type { RigOrders } from "./rig-orders.ts";
import type { FindRig } from "./scope-rigs.ts";

interface RigProgressContext {
  readonly orders: RigOrders;
  readonly notices: Notices;
  /** Epoch ms. */
  readonly now: () => number;
}

/** Follows in the readings what the rigs of a curtailment make of their commands, and reports those that do not obey. */
export class RigProgress {
  readonly #id: number;
  readonly #rigs: CurtailedRigs;
  readonly #context: RigProgressContext;

  /** `id`: that of the curtailment. */
  constructor(id: number, rigs: CurtailedRigs, context: RigProgressContext) {
    this.#id = id;
    this.#rigs = rigs;
    this.#context = context;
  }

  /** The next state of each rig that was sent something or is about to be. */
  advance({ ended, reason }: StoredCurtailment, find: FindRig): void {
    const { now, orders } = this.#context;
    for (const [minerId, rig] of this.#rigs.all) {
      if (!isUnderWay(rig)) continue;
      const found = find(minerId);
      const seconds = found === null ? null : orders.seconds(found.entry);
      const patienceMs = 1000 * Math.max(seconds?.off ?? 0, seconds?.setpoint ?? 0);
      const step = { now: now(), patienceMs, isOpen: orders.isOpen(minerId) };
      const { row, gaveUp } =
        rig.state === "restoring"
          ? advanceBack(rig, found?.view ?? absent, step)
          : ended === null
            ? advance(rig, found?.view ?? absent, step)
            : { row: rig };
      if (row.state === "reached" || row.state === "restored") orders.shown(minerId);
      if (found === null)
        this.#rigs.set(minerId, { ...rig, state: "released", message: "It is no longer a miner of this service" });
      // While it lasts, it is tried again once there is still room for it.
      else if (rig.state === "restoring" && gaveUp !== undefined && ended === null)
        this.#rigs.set(minerId, { ...row, state: "reached", gaveUp: false });
      else {
        if (row !== rig) this.#rigs.set(minerId, row);
        if (gaveUp !== undefined) this.#report(minerId, row, gaveUp, reason);
      }
    }
  }

  #report(minerId: number, rig: StoredCurtailedRig, why: "silent" | "wakes", title: string): void {
    const { name, wanted, gaveUp } = rig;
    const figures = { rig: name, id: this.#id, watts: Math.round(wanted) };
    const message = gaveUp
      ? coded("notices.curtailment.stopped", { rig: name, id: this.#id })
      : why === "wakes"
        ? coded("notices.curtailment.wakes", figures)
        : coded("notices.curtailment.silent", figures);
    this.#context.notices.raise({
      // Nothing would end it: the curtailment is over.
      key: gaveUp ? null : noticeKey(this.#id, minerId),
      minerId,
      title,
      source: "System",
      message,
      severity: "warning",
    });
  }
}

/** Stored, so it never changes. */
export const noticeKey = (id: number, minerId: number): string => `curtailment:${id}:${minerId}`;

/** Whether its next reading may change what is known of a rig. */
const isUnderWay = ({ state }: StoredCurtailedRig): boolean =>
  state === "due" || state === "sent" || state === "reached" || state === "away" || state === "restoring";

const absent: RigView = { at: null, reachable: false, draw: null, mining: null, setting: null };
