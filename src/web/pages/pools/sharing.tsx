import { useState } from "preact/hooks";
import { isHere } from "../../../contract/site-numbers.ts";
import { t } from "../../language.ts";
import { sites } from "../../live.ts";
import { SiteChoice, siteField } from "../../parts/site-choice.tsx";
import { AtSites, type Listed as Copied } from "../../parts/site-copies.tsx";

/** A pool or pool group of a list. */
interface Listed extends Copied {
  readonly runsAt?: readonly string[] | undefined;
}

/** Where a pool comes from, or which sites have it. */
export function Sharing({ of }: { of: Listed }) {
  if (of.centre === undefined && (of.sites ?? []).length === 0) return null;
  return (
    <small class="pool-sharing">
      {of.centre === undefined ? null : t.rules.ofCentre({ name: of.centre })}
      <AtSites sites={of.sites} />
    </small>
  );
}

/** The choice of the sites that get a pool, where there are any. */
export function SitesField({ id, of }: { id: number; of: Listed | null }) {
  const [chosen, setChosen] = useState(of?.runsAt ?? []);
  return isHere(id) ? <SiteChoice chosen={chosen} onChoose={setChosen} /> : null;
}

/** The sites that were chosen; undefined if the form did not ask. */
export const sitesIn = (form: FormData, id: number): string[] | undefined =>
  sites.value.length === 0 || !isHere(id) ? undefined : form.getAll(siteField).map(String);
