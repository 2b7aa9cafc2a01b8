import { isHere, siteOf } from "../../contract/site-numbers.ts";
import { t } from "../language.ts";
import { sites } from "../live.ts";

/** The site of a number; undefined for what is of this service, or of a site that is not known. */
const siteWith = (id: number) => sites.value.find((site) => site.id === siteOf(id));

/** Why something cannot be changed here; null for what is of this service. */
export const atSiteText = (id: number): string | null =>
  isHere(id) ? null : t.sites.changedThereText({ name: siteWith(id)?.name ?? "" });

/** The site at which something is changed, with a link to its dashboard if it has an address; nothing for what is of this service. */
export function AtSite({ id }: { readonly id: number }) {
  const site = siteWith(id);
  if (isHere(id) || site === undefined) return null;
  const name = <bdi>{t.sites.changedThere({ name: site.name })}</bdi>;
  if (site.url === null) return name;
  return (
    <a href={site.url} target="_blank" rel="noreferrer">
      {name}
    </a>
  );
}
