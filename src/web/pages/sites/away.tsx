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
  const rigs = away.reduce((sum, { miners }) => sum + (miners ?? 0), 0);
  const [longest] = away.map(({ since }) => since).toSorted();
  return (
    <p class="banner bad" role="status">
      <Icon name="unplugged" />{" "}
      <span>
        {t.sites.away({
          names: away.map(({ name }) => name).join(", "),
          age: ago(Date.parse(longest ?? ""), now.value),
        })}{" "}
        {counted(rigs, t.sites.leftOut)}
      </span>{" "}
      <a class="button small" href={link("sites")}>
        {t.sites.title}
      </a>
    </p>
  );
}
