import { useState } from "preact/hooks";
import type { BenchmarkEntry } from "../../../contract/switching.ts";
import { call } from "../../api.ts";
import { hashrate, power } from "../../format.ts";
import { t } from "../../language.ts";
import { Confirm } from "../../parts/dialog.tsx";
import { Icon } from "../../parts/icon.tsx";
import { useLoaded } from "../../parts/load.tsx";
import { say } from "../../parts/messages.tsx";
import { Card } from "../../parts/page.tsx";
import { Scroll } from "../../parts/scroll.tsx";
import { Age } from "../../parts/status.tsx";
import { may } from "../../session.ts";

/** The measured performance of each card or processor model, used by profit switching. `software`: names by id. */
export function Benchmarks({ software }: { software: ReadonlyMap<string, string> | undefined }) {
  const list = useLoaded((signal) => call("listBenchmarks", {}, { signal }), []);
  const [forgets, setForgets] = useState<BenchmarkEntry | null>(null);
  if (list.value === undefined || list.value.length === 0) return null;
  return (
    <Card title={t.hosts.benchmarks}>
      <p class="hint">{t.hosts.benchmarksText}</p>
      <Scroll name={t.hosts.benchmarks}>
        <table>
          <thead>
            <tr>
              <th scope="col">{t.hosts.model}</th>
              <th scope="col">{t.hosts.software}</th>
              <th scope="col">{t.hosts.algorithm}</th>
              <th scope="col" class="number">
                {t.hosts.hashrate}
              </th>
              <th scope="col" class="number">
                {t.hosts.power}
              </th>
              <th scope="col">{t.hosts.measured}</th>
              {may("deleteBenchmark") ? (
                <th scope="col">
                  <span class="visually-hidden">{t.hosts.forget}</span>
                </th>
              ) : null}
            </tr>
          </thead>
          <tbody>
            {list.value.map((entry) => (
              <tr key={entry.id}>
                <th scope="row">
                  <bdi>{entry.model}</bdi>
                </th>
                <td>
                  <bdi>{software?.get(entry.software) ?? entry.software}</bdi>
                </td>
                <td>
                  <bdi>{entry.algorithm}</bdi>
                </td>
                <td class="number">{hashrate(entry.hashrate, entry.algorithm)}</td>
                <td class="number">{power(entry.power)}</td>
                <td>
                  <Age time={entry.at} />
                </td>
                {may("deleteBenchmark") ? (
                  <td class="number">
                    <button type="button" class="button quiet" onClick={() => setForgets(entry)}>
                      <Icon name="trash" />
                      <span class="visually-hidden">
                        {t.hosts.forget}: {entry.model}, {entry.algorithm}
                      </span>
                    </button>
                  </td>
                ) : null}
              </tr>
            ))}
          </tbody>
        </table>
      </Scroll>
      {forgets === null ? null : (
        <Confirm
          title={t.hosts.forgetTitle({ model: forgets.model, algorithm: forgets.algorithm })}
          text={t.hosts.forgetText}
          verb={t.hosts.forget}
          onConfirm={async () => {
            say((await call("deleteBenchmark", { id: forgets.id })).message);
            list.reload();
          }}
          onClose={() => setForgets(null)}
        />
      )}
    </Card>
  );
}
