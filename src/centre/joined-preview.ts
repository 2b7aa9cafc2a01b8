import type { BulkPreview } from "../contract/bulk-preview.ts";

/** The preview of a bulk action over several sites, which all begin at once; null if no site has one. Older sites have none. */
export function joinedPreview(previews: readonly (BulkPreview | null | undefined)[]): BulkPreview | null {
  const known = previews.filter((preview) => preview != null);
  const [first] = known;
  if (first === undefined || known.length === 1) return first ?? null;
  const sum = (read: (preview: BulkPreview) => number): number => known.reduce((all, each) => all + read(each), 0);
  const times = known.flatMap(({ seconds }) => seconds ?? []);
  // Not earlier than the slowest site: when each rig changes is known only there.
  const slowest = (read: (seconds: NonNullable<BulkPreview["seconds"]>) => number) => Math.max(...times.map(read));
  const lost = known.flatMap(({ revenueLost }) => revenueLost ?? []);
  const isOneCurrency = known.every(({ currency }) => currency === first.currency);
  return {
    power: {
      now: sum(({ power }) => power.now),
      after: sum(({ power }) => power.after),
      unknown: sum(({ power }) => power.unknown),
    },
    seconds:
      times.length === 0
        ? null
        : { half: slowest(({ half }) => half), most: slowest(({ most }) => most), all: slowest(({ all }) => all) },
    revenueLost: lost.length === 0 || !isOneCurrency ? null : lost.reduce((all, each) => all + each, 0),
    currency: first.currency,
    leftOut: joinedReasons(known.flatMap(({ leftOut }) => leftOut)),
  };
}

function joinedReasons(reasons: BulkPreview["leftOut"]): BulkPreview["leftOut"] {
  const joined = [...Map.groupBy(reasons, ({ message }) => message).values()].flatMap(([first, ...others]) =>
    first === undefined ? [] : [{ ...first, miners: others.reduce((all, { miners }) => all + miners, first.miners) }],
  );
  return joined.sort((one, other) => other.miners - one.miners);
}
