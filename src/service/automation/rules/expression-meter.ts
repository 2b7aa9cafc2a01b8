import type { Expression, ExpressionContext } from "../../../config/expressions.ts";
import type { Truth } from "./machine.ts";

/** Steps that expressions may take on average; the allowance is refilled once a second. */
export class Allowance {
  readonly #most: number;
  readonly #perTurn: number;
  #left: number;

  constructor(most: number, perTurn: number) {
    this.#most = most;
    this.#perTurn = perTurn;
    this.#left = most;
  }

  get isSpent(): boolean {
    return this.#left <= 0;
  }

  spend(work: number): void {
    this.#left -= work;
  }

  refill(): void {
    this.#left = Math.min(this.#most, this.#left + this.#perTurn);
  }
}

/** An expression over 10,000 miners takes some 20,000 steps a second; these take up to 25 ms of CPU. */
const ruleAllowance = (): Allowance => new Allowance(1_000_000, 200_000);
/** For all rules of one user, so that users with many rules do not delay those of others. */
const makerAllowance = (): Allowance => new Allowance(2_000_000, 500_000);
/** A stopped evaluation is charged this many times, so that a rule that is always stopped costs next to nothing. */
export const stoppedFactor = 10;

/** The allowances of creators. */
export class Allowances {
  readonly #byMaker = new Map<number, Allowance>();

  /** Null for the configuration file and the owner, whose rules have only their own allowance. */
  of(makerId: number | null): Allowance | null {
    if (makerId === null) return null;
    const found = this.#byMaker.get(makerId) ?? makerAllowance();
    this.#byMaker.set(makerId, found);
    return found;
  }

  /** Refills, once a second, the allowances of creators and rules. */
  refill(rules: Iterable<{ readonly meter: ExpressionMeter | null }>): void {
    for (const allowance of this.#byMaker.values()) allowance.refill();
    for (const { meter } of rules) meter?.refill();
  }
}

export interface Stop {
  /** 0: no single miner. */
  readonly minerId: number;
  /** Such as "it takes more than 10,000 steps". */
  readonly why: string;
}

/** Evaluates the expression of a rule within the limit of each evaluation and the allowances of rule and creator. */
export class ExpressionMeter {
  readonly #expression: Expression;
  readonly #own = ruleAllowance();
  readonly #maker: Allowance | null;
  /** Why the last evaluation was stopped. */
  #stop: Stop | null = null;
  /** The first stop since the last query. */
  #unreported: Stop | null = null;

  constructor(expression: Expression, maker: Allowance | null) {
    this.#expression = expression;
    this.#maker = maker;
  }

  /** Why the last evaluation was stopped; null if it finished. */
  get stopped(): string | null {
    return this.#stop?.why ?? null;
  }

  /** The first stop since the last call; null if there was none. */
  takeStop(): Stop | null {
    const stop = this.#unreported;
    this.#unreported = null;
    return stop;
  }

  /** Null if unknown or stopped. Without an allowance `context` is not called. */
  test(minerId: number, context: () => ExpressionContext): Truth {
    if (this.#own.isSpent || this.#maker?.isSpent === true) {
      return this.#end(null, { minerId: 0, why: overall });
    }
    const { truth, work, stopped } = this.#expression.test(context());
    const cost = stopped === null ? work : stoppedFactor * work;
    this.#own.spend(cost);
    this.#maker?.spend(cost);
    return this.#end(truth, stopped === null ? null : { minerId, why: stopped });
  }

  #end(truth: Truth, stop: Stop | null): Truth {
    this.#stop = stop;
    this.#unreported ??= stop;
    return truth;
  }

  /** A creator's allowance is refilled once for all rules. */
  refill(): void {
    this.#own.refill();
  }
}

const overall = "it takes too many steps a second over all miners";
