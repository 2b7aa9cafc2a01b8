import type { Control, Identity } from "../contract/readings.ts";
import type { PoolAction, Reading } from "./driver.ts";
import { unknownIdentity } from "./identity.ts";
import { same } from "./same.ts";

/** The same object as before while it is equal, so that `===` shows whether it has changed. */
export type Kept<T extends object> = T;

/** The last value while the new one is equal to it. */
export const kept = <T extends object>(last: Kept<T>, now: T): Kept<T> => (same(now, last) ? last : now);

/**
 * The rarely changing parts of one rig's readings. New values are shared with other rigs, because a farm has many of
 * one kind.
 */
export class KeptParts {
  #identity: Kept<Identity> = unknownIdentity;
  #controls: Kept<readonly Control[]> = [];
  #poolActions: Kept<readonly PoolAction[]> = [];

  /** The reading with the objects of the last one. */
  in(reading: Reading): Reading {
    if (!same(reading.identity, this.#identity)) this.#identity = sharedIdentity(reading.identity);
    if (!same(reading.controls, this.#controls)) this.#controls = this.#changed(reading.controls);
    if (!same(reading.poolActions, this.#poolActions)) this.#poolActions = actions.share(reading.poolActions);
    return { ...reading, identity: this.#identity, controls: this.#controls, poolActions: this.#poolActions };
  }

  #changed(controls: readonly Control[]): readonly Kept<Control>[] {
    return controls.map((control, index) => {
      const last = this.#controls[index];
      return last !== undefined && same(control, last) ? last : sharedControl(control);
    });
  }
}

/** Equal controls as one object in the whole process. */
export const sharedControl = (control: Control): Control => controls.share(control);

const sharedIdentity = (identity: Identity): Identity => ({
  ...identity,
  make: sharedText(identity.make),
  model: sharedText(identity.model),
  firmware: sharedText(identity.firmware),
});

const sharedText = (text: string | null): string | null => (text === null ? null : texts.share(text));

/** Far more than a farm has at a time; some change with every read. */
const mostShared = 4_096;

/** One object for all that are equal by their JSON, until there are too many. */
class Shared<T> {
  #known = new Map<string, T>();

  share(value: T): T {
    const json = JSON.stringify(value);
    const known = this.#known.get(json);
    if (known !== undefined) return known;
    if (this.#known.size >= mostShared) this.#known = new Map();
    this.#known.set(json, value);
    return value;
  }
}

const controls = new Shared<Control>();
const actions = new Shared<readonly PoolAction[]>();
const texts = new Shared<string>();
