import type { SiteCopy } from "../../contract/owned.ts";
import { isHere, siteOf } from "../../contract/site-numbers.ts";
import { counted } from "../format.ts";
import { t } from "../language.ts";
import { sites as otherSites } from "../live.ts";
import { Mark, type Tone } from "./status.tsx";

/** A rule, schedule, window, pool, pool group or template of a list. */
export interface Listed {
  readonly id: number | string;
  readonly key?: string;
  readonly name?: string;
  /** Of a pool, whose name it is; one without is called by its address. */
  readonly description?: string;
  readonly url?: string;
  /** Present if a centre has defined it. */
  readonly centre?: string | undefined;
  readonly sites?: readonly SiteCopy[] | undefined;
}

const keyOf = ({ key, name, description, url }: Listed): string | undefined => key ?? name ?? (description || url);

/** The site of something in a list; undefined for what is of this service. */
export const siteName = ({ id }: Listed): string | undefined =>
  otherSites.value.find((site) => site.id === siteOf(Number(id)))?.name;

/** The copies of a definition at its sites, which are not in its list beside it. */
export const copiesOf = <T extends Listed>(of: Listed, all: readonly T[]): T[] =>
  all.filter((each) => {
    const at = each.centre !== undefined && keyOf(each) === keyOf(of) ? siteName(each) : undefined;
    return at !== undefined && of.sites?.some(({ name }) => name === at) === true;
  });

/** A list in which what was pushed to sites stands once. */
export function once<T extends Listed>(all: readonly T[]): T[] {
  const copies = new Set<Listed>(all.flatMap((each) => (isHere(Number(each.id)) ? copiesOf(each, all) : [])));
  return all.filter((each) => !copies.has(each));
}

export const copyTones: Record<SiteCopy["state"], Tone> = { pushed: "good", pending: "busy", refused: "bad" };

/** At how many sites something is, and what is wrong. */
export function AtSites({ sites = [] }: { sites: readonly SiteCopy[] | undefined }) {
  return (
    <>
      {(["pushed", "pending", "refused"] as const).map((state) => {
        const some = sites.filter((each) => each.state === state);
        if (some.length === 0) return null;
        const why = some.flatMap(({ name, problem }) => (problem === null ? [] : [`${name}: ${problem}`]));
        return (
          <span key={state} title={why.join("\n") || undefined}>
            <Mark tone={copyTones[state]}>{counted(some.length, t.rules.copies[state])}</Mark>
          </span>
        );
      })}
    </>
  );
}
