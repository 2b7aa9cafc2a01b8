/**
 * The numbers of things at several sites, without a table: `site × 10^10 + number there`. The service itself is site 0, so
 * its own numbers stay as they are; the largest, of site 9,999, is below 2^53.
 */
const numbersPerSite = 10_000_000_000;

/** The highest number at a site. */
export const highestThere = numbersPerSite - 1;

/** Digits of the longest number: of site 9,999. */
export const longestNumber = 14;

const numberText = new RegExp(`^\\d{1,${longestNumber}}$`);

/** Whether a text is the number of a miner, a group or anything else, here or at a site. */
export const isNumberText = (text: string): boolean => numberText.test(text);

/** Whether something belongs to the service itself, and not to another site. */
export const isHere = (number: number): boolean => siteOf(number) === 0;

export const numberAt = (site: number, number: number): number => site * numbersPerSite + number;
export const siteOf = (number: number): number => Math.floor(number / numbersPerSite);
export const numberThere = (number: number): number => number % numbersPerSite;

/** The name of a group without its site: a centre puts the name of the site, which has no slash, before those of its groups. */
export const ownGroupName = ({ id, name }: { readonly id: number; readonly name: string }): string =>
  !isHere(id) && numberThere(id) > 0 ? name.slice(name.indexOf(" / ") + 3) : name;
