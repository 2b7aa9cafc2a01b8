import { useState } from "preact/hooks";
import { useLocation, useRoute } from "preact-iso";
import { call } from "../../api.ts";
import { t } from "../../language.ts";
import { Confirm } from "../../parts/dialog.tsx";
import { EmptyState } from "../../parts/empty-state.tsx";
import { useFresh } from "../../parts/fresh.ts";
import { Icon } from "../../parts/icon.tsx";
import { Loading, useLoaded } from "../../parts/load.tsx";
import { say } from "../../parts/messages.tsx";
import { Card, Page } from "../../parts/page.tsx";
import { minerName, ProgramState } from "../../parts/program-state.tsx";
import { usePageQuery } from "../../query.ts";
import { link } from "../../route.ts";
import { may } from "../../session.ts";
import { CommandLine } from "./command-line.tsx";
import { Download } from "./download.tsx";
import { blankMiner } from "./miner-data.ts";
import { MinerForm } from "./miner-form.tsx";
import { readCatalogue } from "./read-catalogue.ts";
import { SwitchingCard } from "./switching.tsx";
import "./hosts.css";

/** States during the download of a program's files. */
const downloads = new Set(["downloading", "confirming"]);

/** One managed miner, or a new one for the host in the query. */
export default function MinerPage() {
  const { params } = useRoute();
  const query = usePageQuery();
  const { route } = useLocation();
  const id = params.id ?? "";
  const [asks, setAsks] = useState(false);
  const loaded = useLoaded(
    async (signal) => {
      const [catalogue, miners] = await Promise.all([readCatalogue(signal), call("listManagedMiners", {}, { signal })]);
      return { catalogue, miners };
    },
    [id],
  );
  useFresh(loaded.reload);
  return (
    <Loading from={loaded}>
      {({ catalogue, miners }, known) => {
        const saved = miners.find((each) => String(each.id) === id);
        const isNew = id === "new" && may("saveManagedMiner");
        if (saved === undefined && !isNew)
          return (
            <EmptyState known={known} icon="search" title={t.hosts.minerGone} heading="h1">
              <a class="button" href={link("hosts")}>
                {t.menu.hosts}
              </a>
            </EmptyState>
          );
        const miner = saved ?? { ...blankMiner, hostId: Number(query.get("host")) || (catalogue.hosts[0]?.id ?? 0) };
        const program = catalogue.software.find((each) => each.id === miner.softwareType)?.name ?? miner.softwareType;
        const name = saved === undefined ? t.hosts.addMiner : minerName(saved, program);
        return (
          <Page
            limited
            title={name}
            lead={
              saved === undefined ? undefined : (
                <>
                  <ProgramState status={saved.status} /> · <bdi>{program}</bdi> ·{" "}
                  <bdi>{catalogue.hosts.find((each) => each.id === saved.hostId)?.name ?? t.shell.unknown}</bdi>
                </>
              )
            }
            actions={
              saved === undefined ? undefined : (
                <>
                  <a class="button" href={link(`rigs/${saved.id}`)}>
                    <Icon name="rigs" /> {t.hosts.readings}
                  </a>
                  {may("deleteManagedMiner") ? (
                    <button type="button" class="button" onClick={() => setAsks(true)}>
                      <Icon name="trash" /> {t.shell.delete}
                    </button>
                  ) : null}
                </>
              )
            }
          >
            {saved?.note == null ? null : (
              <p class="banner warning">
                <span dir="auto">{saved.note}</span>
              </p>
            )}
            {saved !== undefined && downloads.has(saved.status ?? "") && may("getManagedMinerDownload") ? (
              <Download id={saved.id} />
            ) : null}
            {saved?.switching == null ? null : <SwitchingCard id={saved.id} />}
            {may("saveManagedMiner") ? (
              <Card title={saved === undefined ? undefined : t.hosts.settings}>
                <MinerForm
                  key={id}
                  miner={miner}
                  isNew={saved === undefined}
                  catalogue={catalogue}
                  onSaved={(next) => {
                    say(t.hosts.saved);
                    if (saved === undefined) route(link(`hosts/miners/${next.id}`));
                    else loaded.reload();
                  }}
                />
              </Card>
            ) : null}
            {saved !== undefined && saved.note === null && may("getManagedMinerCommand") ? (
              <CommandLine id={saved.id} written={JSON.stringify(saved)} />
            ) : null}
            {asks && saved !== undefined ? (
              <Confirm
                title={t.hosts.deleteMinerTitle({ name })}
                text={t.hosts.deleteMinerText}
                verb={t.shell.delete}
                dangerous
                onConfirm={async () => {
                  say((await call("deleteManagedMiner", { id: saved.id })).message);
                  route(link("hosts"));
                }}
                onClose={() => setAsks(false)}
              />
            ) : null}
          </Page>
        );
      }}
    </Loading>
  );
}
