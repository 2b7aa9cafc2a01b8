export type Attributes = Readonly<Record<string, unknown>>;

/** By the name of their cluster. */
export type States = Readonly<Record<string, Attributes>>;

/**
 * What of the attributes a controller is to be told now: whatever differs from what it was told last; of figures that
 * always move only what has moved far, unless their `turn` has come. That comes every 30 s.
 */
export function due(told: States, now: States, turn: boolean): States {
  const changes = Object.entries(now).map(([cluster, attributes]) => {
    const before = told[cluster] ?? {};
    const entries = Object.entries(attributes).filter(([name, value]) => isDue(name, before, value, turn));
    return [cluster, Object.fromEntries(entries)] as const;
  });
  return Object.fromEntries(changes.filter(([, attributes]) => Object.keys(attributes).length > 0));
}

/** ms; every 30 to 60 s is what controllers want of energy. */
export const turnEvery = 30_000;

function isDue(name: string, before: Attributes, value: unknown, turn: boolean): boolean {
  const last = before[name];
  if (isSame(last, value)) return false;
  const isFar = bands[name];
  if (turn || isFar === undefined || last === undefined || last === null || value === null) return true;
  return isFar(Number(last), Number(value));
}

/** Whether a figure of the attribute has moved far; those that are not named are told whenever they move. */
const bands: Readonly<Record<string, (before: number, now: number) => boolean>> = {
  /** mW: 2 W, and 2 %. */
  activePower: (before, now) => Math.abs(now - before) >= Math.max(2_000, Math.abs(before) * 0.02),
  cumulativeEnergyImported: () => false,
  /** Hundredths of °C. */
  measuredValue: (before, now) => Math.abs(now - before) >= 50,
  localTemperature: (before, now) => Math.abs(now - before) >= 20,
};

const isSame = (one: unknown, other: unknown): boolean => JSON.stringify(one) === JSON.stringify(other);
