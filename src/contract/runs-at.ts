/** A name of `runsAt`: the service itself, or every other site; other names are those of sites. */
export const hereName = "here";
export const everySite = "all";

type RunsAt = readonly string[] | undefined;
/** Whether a definition is for the service itself. */
export const runsHere = (names: RunsAt): boolean => names?.includes(hereName) ?? true;
/** Whether a definition is for another site. */
export const runsAtSite = (names: RunsAt, site: string): boolean =>
  names?.some((name) => name === everySite || name === site) ?? false;
