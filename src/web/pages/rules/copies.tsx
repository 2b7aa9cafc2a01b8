import { t } from "../../language.ts";
import { Card } from "../../parts/page.tsx";
import { copiesOf, copyTones, type Listed, siteName } from "../../parts/site-copies.tsx";
import { Age, Mark } from "../../parts/status.tsx";
import { link } from "../../route.ts";

/** Each site of a definition: whether it acts by it, and why not. */
export function SiteCopies({ of, all, path }: { of: Listed; all: readonly Listed[]; path: string }) {
  if (of.sites === undefined || of.sites.length === 0) return null;
  const copies = copiesOf(of, all);
  return (
    <Card title={t.sites.title}>
      <ul class="rule-copies">
        {of.sites.map(({ name, state, time, problem }) => {
          const copy = copies.find((each) => siteName(each) === name);
          return (
            <li key={name}>
              {copy === undefined ? <bdi>{name}</bdi> : <a href={link(`${path}/${copy.id}`)}>{name}</a>}{" "}
              <Mark tone={copyTones[state]}>{t.rules.copy[state]}</Mark> {time === null ? null : <Age time={time} />}
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
