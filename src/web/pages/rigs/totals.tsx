import { counted, hashrate, number, power } from "../../format.ts";
import { t } from "../../language.ts";
import { Status } from "../../parts/status.tsx";
import { SumText } from "../../parts/sum.tsx";
import { isInRepair } from "./filter.ts";
import type { Listed } from "./use-listed.ts";
import { statuses, toggled, type View } from "./view.ts";

const mostAlgorithms = 3;

/** Sums over the listed rigs; each status is also a filter. */
export function TotalsBar({ listed, view, change }: { listed: Listed; view: View; change: (view: View) => void }) {
  const { totals } = listed;
  const chosen = view.facets.status ?? [];
  const isRepairChosen = view.facets.repair?.includes(isInRepair) === true;
  return (
    <section class="rigs-totals" aria-label={t.rigs.totals}>
      <div class="statuses">
        {statuses.map((status) => {
          const count = listed.statuses.get(status) ?? 0;
          const isChosen = chosen.includes(status);
          return count === 0 && !isChosen ? null : (
            <button
              key={status}
              type="button"
              class="status-count"
              aria-pressed={isChosen}
              onClick={() => change(toggled(view, "status", status))}
            >
              <Status status={status} /> <strong>{number(count)}</strong>
            </button>
          );
        })}
        {totals.inRepair === 0 && !isRepairChosen ? null : (
          <button
            type="button"
            class="status-count"
            aria-pressed={isRepairChosen}
            onClick={() => change(toggled(view, "repair", isInRepair))}
          >
            {counted(totals.inRepair, t.repair.sums)}
          </button>
        )}
      </div>
      <dl>
        <div>
          <dt>{t.rigs.totalHashrate}</dt>
          <dd>
            {totals.hashrates.length === 0 ? hashrate(null) : null}
            {totals.hashrates.slice(0, mostAlgorithms).map((each) => (
              <span key={each.algorithm}>
                {hashrate(each.hashrate, each.algorithm)}
                {totals.hashrates.length === 1 ? null : <small> {each.algorithm ?? t.shell.unknown}</small>}
              </span>
            ))}
          </dd>
        </div>
        <div>
          <dt>{t.rigs.totalPower}</dt>
          <dd>
            <SumText sum={totals.power} format={power} leavesOut={(count) => counted(count, t.rigs.powerUnknown)} />
          </dd>
        </div>
      </dl>
    </section>
  );
}
