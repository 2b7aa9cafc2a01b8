/**
 * The numbers of things at several sites, without a table: `site × 10^10 + number there`. The service itself is site 0, so
 * its own numbers stay as they are; the largest, of site 9,999, is below 2^53.
 */
const numbersPerSite = 10_000_000_000;

/** The highest number at a site. */
export const highestThere = numbersPerSite - 1;

export const numberAt = (site: number, number: number): number => site * numbersPerSite + number;
export const siteOf = (number: number): number => Math.floor(number / numbersPerSite);
export const numberThere = (number: number): number => number % numbersPerSite;
