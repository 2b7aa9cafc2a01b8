import type { SiteCopy } from "../../../contract/owned.ts";
import { isHere, siteOf } from "../../../contract/site-numbers.ts";
import { counted } from "../../format.ts";
import { t } from "../../language.ts";
import { sites as otherSites } from "../../live.ts";
import { Card } from "../../parts/page.tsx";
import { Age, Mark, type Tone } from "../../parts/status.tsx";
import { link } from "../../route.ts";

/** A rule, schedule or window of a list. */
interface Listed {
  readonly id: number;
  readonly key?: string;
  readonly name: string;
  readonly owner: "file" | "store" | "centre";
  readonly sites?: readonly SiteCopy[] | undefined;
}

const keyOf = ({ key, name }: Listed): string => key ?? name;

const siteName = (id: number): string | undefined => otherSites.value.find((site) => site.id === siteOf(id))?.name;

/** The copies of a definition at its sites, which are not in its list beside it. */
export const copiesOf = <T extends Listed>(of: Listed, all: readonly T[]): T[] =>
  all.filter((each) => {
    const at = each.owner === "centre" && !isHere(each.id) && keyOf(each) === keyOf(of) ? siteName(each.id) : undefined;
    return at !== undefined && of.sites?.some(({ name }) => name === at) === true;
  });

/** A list in which what was pushed to sites stands once. */
export function once<T extends Listed>(all: readonly T[]): T[] {
  const copies = new Set<Listed>(all.flatMap((each) => (isHere(each.id) ? copiesOf(each, all) : [])));
  return all.filter((each) => !copies.has(each));
}

const tones: Record<SiteCopy["state"], Tone> = { pushed: "good", pending: "busy", refused: "bad" };

/** At how many sites something acts, and what is wrong. */
export function AtSites({ sites = [] }: { sites: readonly SiteCopy[] | undefined }) {
  return (
    <>
      {(["pushed", "pending", "refused"] as const).map((state) => {
        const some = sites.filter((each) => each.state === state);
        if (some.length === 0) return null;
        const why = some.flatMap(({ name, problem }) => (problem === null ? [] : [`${name}: ${problem}`]));
        return (
          <span key={state} title={why.join("\n") || undefined}>
            <Mark tone={tones[state]}>{counted(some.length, t.rules.copies[state])}</Mark>
          </span>
        );
      })}
    </>
  );
}

/** Each site of a definition: whether it acts by it, and why not. */
export function SiteCopies({ of, all, path }: { of: Listed; all: readonly Listed[]; path: string }) {
  if (of.sites === undefined || of.sites.length === 0) return null;
  const copies = copiesOf(of, all);
  return (
    <Card title={t.sites.title}>
      <ul class="rule-copies">
        {of.sites.map(({ name, state, time, problem }) => {
          const copy = copies.find(({ id }) => siteName(id) === name);
          return (
            <li key={name}>
              {copy === undefined ? <bdi>{name}</bdi> : <a href={link(`${path}/${copy.id}`)}>{name}</a>}{" "}
              <Mark tone={tones[state]}>{t.rules.copy[state]}</Mark> {time === null ? null : <Age time={time} />}
              {problem === null ? null : (
                <p class="hint" dir="auto">
                  {problem}
                </p>
              )}
            </li>
          );
        })}
      </ul>
    </Card>
  );
}
