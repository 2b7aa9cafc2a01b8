import type { Rig } from "../../link/driver.ts";
import type { Plug } from "../../link/plugs/plug.ts";
import type { Declared } from "../declared.ts";
import type { PolledRig, Poller } from "../poller.ts";
import type { RigState } from "../state.ts";

/** A rig that stays the same object while another poller takes it over. */
export class MovingRig implements PolledRig {
  #inner: PolledRig;
  #poller: Poller;
  /** By `performance.now`. */
  #restartsUntil = Number.NEGATIVE_INFINITY;

  constructor(inner: PolledRig, poller: Poller) {
    this.#inner = inner;
    this.#poller = poller;
  }

  /** The rig of the poller that reads it now. */
  get inner(): PolledRig {
    return this.#inner;
  }

  get poller(): Poller {
    return this.#poller;
  }

  get id(): number {
    return this.#inner.id;
  }

  get declared(): Declared {
    return this.#inner.declared;
  }

  get state(): RigState {
    return this.#inner.state;
  }

  get busy(): boolean {
    return this.#inner.busy;
  }

  get plug(): Plug | null {
    return this.#inner.plug;
  }

  /** Work that waits while the rig moves is done at its new poller. */
  async exclusively<T>(work: () => Promise<T>): Promise<T> {
    for (;;) {
      const inner = this.#inner;
      const done = await inner.exclusively(async () => (inner === this.#inner ? { result: await work() } : null));
      if (done !== null) return done.result;
    }
  }

  makeWay(): void {
    this.#inner.makeWay();
  }

  rig(): Rig {
    return this.#inner.rig();
  }

  doubt(): void {
    this.#inner.doubt();
  }

  restarts(seconds: number): void {
    this.#restartsUntil = performance.now() + seconds * 1000;
    this.#inner.restarts(seconds);
  }

  restarted(): void {
    this.#restartsUntil = Number.NEGATIVE_INFINITY;
    this.#inner.restarted();
  }

  /** Another poller reads it from now on, with what is known of it; only while nothing uses it. */
  moveTo(poller: Poller): void {
    const { declared, state } = this.#inner;
    const inner = poller.put(declared, state, state);
    this.#poller.remove(this.id);
    this.#inner = inner;
    this.#poller = poller;
    const seconds = (this.#restartsUntil - performance.now()) / 1000;
    if (seconds > 0) this.#inner.restarts(seconds);
  }
}
