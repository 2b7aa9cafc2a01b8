import { call } from "../../api.ts";
import { hashrate, money, power } from "../../format.ts";
import { t } from "../../language.ts";
import { useFresh } from "../../parts/fresh.ts";
import { useLoaded } from "../../parts/load.tsx";
import { Card } from "../../parts/page.tsx";
import { Scroll } from "../../parts/scroll.tsx";
import { Age } from "../../parts/status.tsx";
import { currency, may } from "../../session.ts";

/** The choices of a managed miner, and the reason for the present one. */
export function SwitchingCard({ id }: { id: number }) {
  const { value, reload } = useLoaded(
    (signal) =>
      may("getManagedMinerSwitching") ? call("getManagedMinerSwitching", { id }, { signal }) : Promise.resolve(null),
    [id],
  );
  useFresh(reload);
  if (value === undefined || value === null) return null;
  const { choice, since, why, options } = value;
  const amount = (each: number | null) => money(each, currency());
  return (
    <Card title={t.hosts.switching}>
      <p>
        <span class="sentence" lang="en" dir="auto">
          {why}
        </span>
        {since === null ? null : (
          <>
            {" · "}
            <Age time={since} />
          </>
        )}
      </p>
      <Scroll name={t.hosts.switching}>
        <table>
          <thead>
            <tr>
              <th scope="col">{t.hosts.algorithm}</th>
              <th scope="col" class="number">
                {t.hosts.hashrate}
              </th>
              <th scope="col" class="number">
                {t.hosts.power}
              </th>
              <th scope="col" class="number">
                {t.hosts.revenue}
              </th>
              <th scope="col" class="number">
                {t.hosts.cost}
              </th>
              <th scope="col" class="number">
                {t.hosts.profit}
              </th>
            </tr>
          </thead>
          <tbody>
            {options.map((option, index) => (
              <tr key={index}>
                <th scope="row">
                  <bdi>{option.algorithm}</bdi> {index === choice ? <span class="tag">{t.hosts.mined}</span> : null}
                </th>
                <td class="number">
                  {option.hashrate === null ? t.hosts.notMeasured : hashrate(option.hashrate, option.algorithm)}
                </td>
                <td class="number">{power(option.power)}</td>
                <td class="number">{amount(option.revenue)}</td>
                <td class="number">{amount(option.cost)}</td>
                <td class="number">{amount(option.profit)}</td>
              </tr>
            ))}
          </tbody>
        </table>
      </Scroll>
      <p class="hint">{t.hosts.perDay}</p>
    </Card>
  );
}
