import { now } from "../../clock.ts";
import { ago, counted } from "../../format.ts";
import { t } from "../../language.ts";
import { sites } from "../../live.ts";
import { Icon } from "../../parts/icon.tsx";
import { link } from "../../route.ts";

/** Which sites cannot be reached, so that every sum on the page leaves their rigs out. */
export default function SitesAway() {
  const away = sites.value.filter(({ state }) => state === "unreachable" || state === "refused");
  if (away.length === 0) return null;
  const known = away.filter(({ miners }) => miners !== null);
  const never = away.filter(({ miners }) => miners === null);
  const rigs = known.reduce((sum, { miners }) => sum + (miners ?? 0), 0);
  const [longest = ""] = known.map(({ since }) => since).toSorted();
  const names = (list: typeof away): string => list.map(({ name }) => name).join(", ");
  return (
    <p class="banner bad" role="status">
      <Icon name="unplugged" />{" "}
      <span>
        {known.length === 0
          ? null
          : `${t.sites.away({ names: names(known), age: ago(Date.parse(longest), now.value) })} ${counted(rigs, t.sites.leftOut)} `}
        {never.length === 0 ? null : t.sites.awayNever({ names: names(never) })}
      </span>{" "}
      <a class="button small" href={link("sites")}>
        {t.sites.title}
      </a>
    </p>
  );
}
