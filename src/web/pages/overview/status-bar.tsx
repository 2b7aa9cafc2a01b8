import { counted, number, percent } from "../../format.ts";
import { t } from "../../language.ts";
import { Icon } from "../../parts/icon.tsx";
import { statuses, toneOf } from "../../parts/status.tsx";
import { link } from "../../route.ts";
import type { Sums } from "../../sums.ts";

/** The rigs in repair, with their notes. */
const repairList = "rigs?repair=yes&columns=name,status,repair,model,group,address";

/** The number of rigs by status, as a bar whose parts link to those rigs. */
export function StatusBar({ sums: { byStatus, count, inRepair } }: { sums: Sums }) {
  const parts = statuses.flatMap((status) => {
    const rigs = byStatus.get(status) ?? 0;
    return rigs === 0 ? [] : [{ status, rigs }];
  });
  return (
    <section class="status-bar" aria-label={t.overview.byStatus}>
      <div class="status-bar-picture" aria-hidden="true">
        {parts.map(({ status, rigs }) => (
          <span key={status} class={`part ${toneOf(status)}`} style={{ flexGrow: rigs }} />
        ))}
      </div>
      <ul class="row">
        {parts.map(({ status, rigs }) => (
          <li key={status}>
            <a
              href={link(`rigs?status=${status}`)}
              class={`status ${toneOf(status)}`}
              title={percent(rigs / (count + inRepair))}
            >
              <span class="dot" aria-hidden="true" />
              {number(rigs)} {t.status[status]}
            </a>
          </li>
        ))}
        {inRepair === 0 ? null : (
          <li>
            <a href={link(repairList)} class="status off">
              <Icon name="wrench" /> {counted(inRepair, t.repair.sums)}
            </a>
          </li>
        )}
      </ul>
    </section>
  );
}
