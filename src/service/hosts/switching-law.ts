/** A choice of a managed miner with its figures; null is unknown. */
export interface Option {
  readonly key: string;
  /** Money per day. */
  readonly revenue: number | null;
  /** Money per day for electricity, used for comparing choices; 0 if they are compared by revenue. */
  readonly cost: number | null;
  /** W. */
  readonly power: number | null;
}

export interface Situation {
  /** `heat` ignores money: the option that draws most power is the best one. */
  readonly mode: "profit" | "heat";
  readonly options: readonly Option[];
  /** What it mines now; null if that is not one of the options. */
  readonly present: string | null;
  /** Epoch ms since which it mines that. */
  readonly since: number;
  readonly now: number;
  /** Share of the highest revenue (or power) by which another option must be better: a change costs hashing time. */
  readonly hysteresis: number;
  readonly minimumStayMs: number;
}

export interface Decision {
  /** The option to mine; null: too few figures to decide, so nothing changes. */
  readonly key: string | null;
  readonly why: string;
}

/** Decides which option a managed miner should mine. */
export function decide({ mode, options, present, since, now, hysteresis, minimumStayMs }: Situation): Decision {
  const worthOf = (option: Option): number | null =>
    mode === "heat" ? option.power : difference(option.revenue, option.cost);
  const judged = options.flatMap((option) => {
    const worth = worthOf(option);
    return worth === null ? [] : [{ option, worth }];
  });
  const [first, ...rest] = judged;
  if (first === undefined)
    return {
      key: null,
      why: mode === "heat" ? "the power of every choice is unknown" : "the profit of every choice is unknown",
    };
  const best = rest.reduce((one, other) => (other.worth > one.worth ? other : one), first);
  const measure = mode === "heat" ? "draws most power" : "earns most";
  const current = options.find(({ key }) => key === present);
  if (current === undefined) return { key: best.option.key, why: `it ${measure}` };
  if (best.option.key === present) return { key: present, why: `it ${measure}` };
  const worth = worthOf(current);
  // Prices may be missing for a while: an option that cannot be compared stays.
  if (worth === null) return { key: present, why: "the profit of the present choice is unknown" };
  const scale = Math.max(
    ...judged.map(({ option }) => Math.abs((mode === "heat" ? option.power : option.revenue) ?? 0)),
  );
  if (best.worth - worth <= hysteresis * scale) return { key: present, why: "no other choice is clearly better" };
  // Setting the clock back does not extend the stay.
  const stayed = Math.max(0, now - since);
  if (stayed < minimumStayMs)
    return { key: present, why: `another choice ${measure}, but it stays for ${minutes(minimumStayMs - stayed)} more` };
  return { key: best.option.key, why: `it ${measure}` };
}

const minutes = (ms: number): string => `${Math.ceil(ms / 60_000)} min`;

const difference = (from: number | null, what: number | null): number | null =>
  from === null || what === null ? null : from - what;
