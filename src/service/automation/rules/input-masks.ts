import type { RigState } from "../../../fleet/state.ts";
import type { Input } from "./conditions.ts";
import type { LiveRule } from "./live-rule.ts";

/** The mask of a rule that depends on more than the state of a rig. */
export const anything = -1;
/** One bit of a mask is for everything else. */
const mostBits = 30;

/** The inputs of rules in the state of a rig: a read evaluates only the rules that it may affect. */
export class InputMasks {
  /** An input's index is its bit. */
  #inputs: readonly Input[] = [];

  /** Sets the masks of all rules. */
  index(rules: readonly LiveRule[]): void {
    const inputs = [...new Set(rules.flatMap(({ compiled }) => compiled?.inputs ?? []))];
    this.#inputs = inputs;
    for (const rule of rules) {
      const own = rule.compiled?.inputs ?? null;
      rule.mask =
        own === null
          ? anything
          : own.reduce((mask, input) => mask | (1 << Math.min(mostBits, inputs.indexOf(input))), 0);
    }
  }

  /** The bits of the inputs that changed in a read. */
  changed({ disabled }: { readonly disabled: boolean }, before: RigState, state: RigState): number {
    let mask = 1 << 31;
    for (let bit = 0; bit < this.#inputs.length; bit += 1) {
      const input = this.#inputs[bit];
      if (input !== undefined && !Object.is(input(before, disabled), input(state, disabled)))
        mask |= 1 << Math.min(mostBits, bit);
    }
    return mask;
  }
}
