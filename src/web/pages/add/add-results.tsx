import { number } from "../../format.ts";
import { t } from "../../language.ts";
import { Card } from "../../parts/page.tsx";
import { Scroll } from "../../parts/scroll.tsx";
import { link } from "../../route.ts";
import { adding } from "./add-rigs.ts";

/** Failures that are listed; the rest are counted. */
const mostListed = 200;

/** The progress of adding rigs, and the result for each rig. */
export function AddResults() {
  if (adding.value === null) return null;
  const { total, results, running } = adding.value;
  const failed = results.filter(({ problem }) => problem !== null);
  const [only] = results;
  return (
    <Card
      title={
        running ? t.add.adding : t.add.added({ count: number(results.length - failed.length), total: number(total) })
      }
      actions={
        running ? null : (
          <div class="row">
            {failed.length === results.length ? null : (
              <a
                class="button small"
                href={link(results.length === 1 && only?.id != null ? `rigs/${only.id}` : "rigs")}
              >
                {t.add.show}
              </a>
            )}
            <button
              type="button"
              class="button small quiet"
              onClick={() => {
                adding.value = null;
              }}
            >
              {t.shell.close}
            </button>
          </div>
        )
      }
    >
      <progress max={total} value={results.length} aria-label={t.add.adding} />
      <p class="hint" role="status">
        {t.add.progress({ done: number(results.length), total: number(total), failed: number(failed.length) })}
      </p>
      {failed.length === 0 ? null : (
        <Scroll name={t.add.failed}>
          <table class="add-table">
            <caption>{t.add.failed}</caption>
            <tbody>
              {failed.slice(0, mostListed).map(({ address, problem }) => (
                <tr key={address}>
                  <th scope="row">
                    <bdi class="mono">{address}</bdi>
                  </th>
                  <td dir="auto">{problem}</td>
                </tr>
              ))}
            </tbody>
          </table>
        </Scroll>
      )}
    </Card>
  );
}
