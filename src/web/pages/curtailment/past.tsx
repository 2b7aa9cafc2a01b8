import { call } from "../../api.ts";
import { dateTime, number, power } from "../../format.ts";
import { t } from "../../language.ts";
import { None } from "../../parts/empty-state.tsx";
import { Loading, useLoaded } from "../../parts/load.tsx";
import { Card } from "../../parts/page.tsx";
import { Scroll } from "../../parts/scroll.tsx";
import { link } from "../../route.ts";
import { may } from "../../session.ts";
import { ReasonText } from "./reason-text.tsx";
import { targetText } from "./words.ts";

const mostPast = 100;

/** Those that are over, newest first; read again when one of `keys` changes. */
export function Past({ keys }: { readonly keys: readonly unknown[] }) {
  const past = useLoaded(
    async (signal) => (await call("listCurtailments", { limit: mostPast }, { signal })).filter(isOver),
    keys,
  );
  return (
    <Card title={t.curtailment.past}>
      <Loading from={past}>
        {(list, known) =>
          list.length === 0 ? (
            <None known={known}>{t.curtailment.noPast}</None>
          ) : (
            <Scroll name={t.curtailment.past}>
              <table class="curtail-past">
                <thead>
                  <tr>
                    <th scope="col">{t.curtailment.reason}</th>
                    <th scope="col">{t.curtailment.began}</th>
                    <th scope="col">{t.curtailment.ended}</th>
                    <th scope="col">{t.curtailment.target}</th>
                    <th scope="col" class="number">
                      {t.curtailment.baseline}
                    </th>
                    <th scope="col" class="number">
                      {t.curtailment.rigs}
                    </th>
                  </tr>
                </thead>
                <tbody>
                  {list.map(({ id, reason, drill, started, ended, target, power: watts, rigs }) => (
                    <tr key={id}>
                      <th scope="row">
                        {may("getCurtailmentReport") ? (
                          <a href={link(`curtailment/${id}`)}>
                            <ReasonText reason={reason} drill={drill} />
                          </a>
                        ) : (
                          <ReasonText reason={reason} drill={drill} />
                        )}
                      </th>
                      <td>{dateTime(started)}</td>
                      <td>{dateTime(ended)}</td>
                      <td>{targetText(target)}</td>
                      <td class="number">{power(watts.baseline)}</td>
                      <td class="number">{number(rigs.total)}</td>
                    </tr>
                  ))}
                </tbody>
              </table>
            </Scroll>
          )
        }
      </Loading>
    </Card>
  );
}

const isOver = ({ state }: { readonly state: string }): boolean => state === "ended";
