import { call } from "../../api.ts";
import { number, percent, power, scaled, temperature } from "../../format.ts";
import { t } from "../../language.ts";
import { None } from "../../parts/empty-state.tsx";
import { useFresh } from "../../parts/fresh.ts";
import { Loading, useLoaded } from "../../parts/load.tsx";
import { Scroll } from "../../parts/scroll.tsx";
import { Age } from "../../parts/status.tsx";

/** The graphics cards of a host, as its agent last reported them. */
export function Gpus({ hostId }: { hostId: number }) {
  const loaded = useLoaded((signal) => call("getHostSystemInfo", { id: hostId }, { signal }), [hostId]);
  useFresh(loaded.reload);
  // The card above already says that its agent has never connected.
  if (loaded.value === undefined && loaded.problem !== null) return <p class="hint">{loaded.problem}</p>;
  return (
    <Loading from={loaded}>
      {({ gpuStatusList, at, stale }, known) => (
        <>
          {stale && at !== null ? (
            <p class="stale">
              {t.hosts.asOf} <Age time={at} />
            </p>
          ) : null}
          {gpuStatusList.length === 0 ? (
            <None known={known}>{t.hosts.noGpus}</None>
          ) : (
            <Scroll name={t.hosts.gpus}>
              <table>
                <thead>
                  <tr>
                    <th scope="col">{t.hosts.gpu}</th>
                    <th scope="col" class="number">
                      {t.hosts.bus}
                    </th>
                    <th scope="col" class="number">
                      {t.hosts.temperature}
                    </th>
                    <th scope="col" class="number">
                      {t.hosts.power}
                    </th>
                    <th scope="col" class="number">
                      {t.hosts.fan}
                    </th>
                    <th scope="col" class="number">
                      {t.hosts.load}
                    </th>
                    <th scope="col" class="number">
                      {t.hosts.clocks}
                    </th>
                  </tr>
                </thead>
                <tbody>
                  {gpuStatusList.map((gpu) => (
                    <tr key={gpu.id}>
                      <th scope="row" class="gpu-name">
                        <bdi>{gpu.name}</bdi> {gpu.lost ? <span class="status bad">{t.hosts.lost}</span> : null}
                      </th>
                      <td class="number">{number(gpu.pciBusId)}</td>
                      <td class="number">{temperature(gpu.temperature)}</td>
                      <td class="number">
                        {power(gpu.power)}
                        {gpu.powerLimit === null ? null : ` / ${power(gpu.powerLimit)}`}
                      </td>
                      <td class="number">{gpu.fanPercent === null ? "–" : percent(gpu.fanPercent / 100)}</td>
                      <td class="number">{gpu.activity === null ? "–" : percent(gpu.activity / 100)}</td>
                      <td class="number">
                        {scaled(gpu.clock, "Hz")} · {scaled(gpu.memoryClock, "Hz")}
                      </td>
                    </tr>
                  ))}
                </tbody>
              </table>
            </Scroll>
          )}
        </>
      )}
    </Loading>
  );
}
