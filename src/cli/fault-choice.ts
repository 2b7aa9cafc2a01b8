import { didYouMean } from "../config/index.ts";
import { type FaultName, faults, fraction } from "../simulator/index.ts";

export const faultNames = Object.keys(faults);

const isFault = (name: string): name is FaultName => Object.hasOwn(faults, name);

/** A fault by its name, null for "none"; otherwise a sentence about the unknown name. */
export function faultNamed(name: string): { readonly fault: FaultName | null } | { readonly mistake: string } {
  if (name === "none") return { fault: null };
  if (isFault(name)) return { fault: name };
  return { mistake: `there is no fault "${name}"${didYouMean(name, [...faultNames, "none"]) || listHint}` };
}

const listHint = "; --help lists the faults";

/** Anything with a name, as rigs have one. */
export interface Named {
  readonly name: string;
}

/**
 * The rigs chosen by `all`, by a share such as `30%`, or by names separated by commas; otherwise a sentence about the
 * mistake. The same share always chooses the same rigs, of all kinds and from all over the farm.
 */
export function chosenRigs<T extends Named>(
  which: string,
  rigs: readonly T[],
): { readonly chosen: readonly T[] } | { readonly mistake: string } {
  if (which === "all") return { chosen: rigs };
  const share = /^(\d{1,3}(?:\.\d{1,3})?)%$/.exec(which)?.[1];
  if (share !== undefined) {
    if (Number(share) > 100) return { mistake: `${which} is more than 100%` };
    return { chosen: shareOf(rigs, Number(share) / 100) };
  }
  const chosen = new Set<T>();
  for (const name of which.split(",")) {
    const rig = rigs.find((each) => each.name === name.trim());
    if (rig === undefined) return { mistake: `there is no rig "${name}"${nearName(name, rigs)}` };
    chosen.add(rig);
  }
  return { chosen: [...chosen] };
}

/** At least one, unless the share is 0. */
function shareOf<T>(rigs: readonly T[], share: number): T[] {
  const count = share === 0 ? 0 : Math.max(1, Math.round(rigs.length * share));
  const drawn = rigs.map((_, index) => index).sort((a, b) => fraction(7, a) - fraction(7, b));
  const taken = new Set(drawn.slice(0, count));
  return rigs.filter((_, index) => taken.has(index));
}

/** Only the first thousand names are compared. */
function nearName(name: string, rigs: readonly Named[]): string {
  const names = rigs.slice(0, 1_000).map((rig) => rig.name);
  return didYouMean(name, [...names, "all"]) || `; rigs are named ${names[0]}, ${names[1] ?? "all"} and so on`;
}
