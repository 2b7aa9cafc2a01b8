import type { ManagedMiner, MinerDetail } from "../../../contract/resources.ts";
import { call } from "../../api.ts";
import { duration, number, percent, scaled } from "../../format.ts";
import { t } from "../../language.ts";
import { Loading, useLoaded } from "../../parts/load.tsx";
import { Card } from "../../parts/page.tsx";
import { ProgramState } from "../../parts/program-state.tsx";
import { Age, Mark } from "../../parts/status.tsx";
import { link } from "../../route.ts";
import { may } from "../../session.ts";
import { Facts } from "./facts.tsx";

/** The program of a managed miner, its command line, and the host that runs it. */
export function Software({ miner }: { miner: MinerDetail }) {
  const loaded = useLoaded(
    async (signal) => {
      const managed = await call("getManagedMiner", { id: miner.id }, { signal });
      const host = managed.hostId === 0 ? null : await call("getHost", { id: managed.hostId }, { signal });
      const names = may("listMiningSoftware") ? await call("listMiningSoftware", {}, { signal }) : [];
      return { managed, host, names };
    },
    [miner.id, miner.updatedUtc],
  );
  return (
    <Loading from={loaded}>
      {({ managed, host, names }) => (
        <div class="cards">
          <Card title={t.rig.software}>
            <Facts
              list={[
                [
                  t.rig.program,
                  managed.softwareType === "" ? (
                    "–"
                  ) : (
                    <bdi>{names.find(({ id }) => id === managed.softwareType)?.name ?? managed.softwareType}</bdi>
                  ),
                ],
                [t.rig.state, <ProgramState status={managed.status} />],
                [t.rig.algorithm, managed.algorithm === "" ? "–" : <bdi>{managed.algorithm}</bdi>],
                [t.rig.dual, isDual(managed) ? <bdi>{managed.dualAlgorithm}</bdi> : null],
              ]}
            />
            {managed.note === null ? null : (
              <p class="status warning">
                <span dir="auto">{managed.note}</span>
              </p>
            )}
          </Card>
          {host === null ? null : (
            <Card
              title={
                <>
                  {t.rig.host} <bdi>{host.description === "" ? host.hostname : host.description}</bdi>
                </>
              }
              actions={
                may("listHosts") ? (
                  <a class="button small" href={link("hosts")}>
                    {t.menu.hosts}
                  </a>
                ) : null
              }
            >
              {host.agent === null ? (
                <p class="hint">{t.rig.noAgent}</p>
              ) : (
                <Facts
                  list={[
                    [
                      t.rig.agent,
                      <>
                        <Mark tone={host.agent.connected ? "good" : "bad"}>
                          {host.agent.connected ? t.rig.agentConnected : t.rig.agentAway}
                        </Mark>{" "}
                        {host.agent.connected || host.agent.at === null ? null : <Age time={host.agent.at} />}
                      </>,
                    ],
                    [t.rig.version, host.agent.version],
                    [t.rig.system, host.agent.report === null ? null : <bdi>{host.agent.report.system}</bdi>],
                    [t.rig.cpu, host.agent.report === null ? null : <bdi>{host.agent.report.cpu}</bdi>],
                    [t.rig.load, host.agent.report?.load == null ? null : percent(host.agent.report.load / 100)],
                    [t.rig.memoryFree, host.agent.report === null ? null : scaled(host.agent.report.memoryFree, "B")],
                    [t.rig.uptime, host.agent.report === null ? null : duration(host.agent.report.uptime)],
                    [t.rig.cores, host.agent.report === null ? null : number(host.agent.report.cores)],
                  ]}
                />
              )}
            </Card>
          )}
          {managed.note === null && may("getManagedMinerCommand") ? <CommandLine id={miner.id} /> : null}
        </div>
      )}
    </Loading>
  );
}

const isDual = ({ dualAlgorithm }: ManagedMiner): boolean => dualAlgorithm !== "" && dualAlgorithm !== "Unspecified";

/** The command line on the host; the service redacts the secrets. */
function CommandLine({ id }: { id: number }) {
  const loaded = useLoaded((signal) => call("getManagedMinerCommand", { id }, { signal }), [id]);
  return (
    <Card title={t.rig.commandLine} wide>
      <Loading from={loaded}>
        {({ command }) => (
          // biome-ignore lint/a11y/noNoninteractiveTabindex: without it, people without a mouse could not scroll it
          <pre tabIndex={0} dir="ltr">
            {command.map((word) => (/\s/.test(word) ? `"${word}"` : word)).join(" ")}
          </pre>
        )}
      </Loading>
    </Card>
  );
}
