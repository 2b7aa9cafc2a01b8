export type Attributes = Readonly<Record<string, unknown>>;

/** By the name of their cluster. */
export type States = Readonly<Record<string, Attributes>>;

/**
 * The attributes to report to controllers now: all that differ from the last report. Of constantly changing values,
 * only those that changed much, unless this is the regular report.
 */
export function due(reported: States, present: States, isRegular: boolean): States {
  const changes = Object.entries(present).map(([cluster, attributes]) => {
    const before = reported[cluster] ?? {};
    const entries = Object.entries(attributes).filter(([name, value]) => isDue(name, before[name], value, isRegular));
    return [cluster, Object.fromEntries(entries)] as const;
  });
  return Object.fromEntries(changes.filter(([, attributes]) => Object.keys(attributes).length > 0));
}

/** Between two regular reports; controllers want energy every 30 to 60 s. */
export const reportIntervalMs = 30_000;

function isDue(name: string, before: unknown, value: unknown, isRegular: boolean): boolean {
  if (JSON.stringify(before) === JSON.stringify(value)) return false;
  const isFar = bands[name];
  if (isRegular || isFar === undefined || before === undefined || before === null || value === null) return true;
  return isFar(Number(before), Number(value));
}

/** Whether a value moved far; attributes that are not listed are reported whenever they change. */
const bands: Readonly<Record<string, (before: number, now: number) => boolean>> = {
  /** mW: 2 W, and 2 %. */
  activePower: (before, now) => Math.abs(now - before) >= Math.max(2_000, Math.abs(before) * 0.02),
  cumulativeEnergyImported: () => false,
  /** Hundredths of °C. */
  measuredValue: (before, now) => Math.abs(now - before) >= 50,
  localTemperature: (before, now) => Math.abs(now - before) >= 20,
};
