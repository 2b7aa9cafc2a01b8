import { useState } from "preact/hooks";
import type { Host } from "../../../contract/resources.ts";
import { call } from "../../api.ts";
import { byName } from "../../format.ts";
import { t } from "../../language.ts";
import { EmptyState } from "../../parts/empty-state.tsx";
import { useFresh } from "../../parts/fresh.ts";
import { Icon } from "../../parts/icon.tsx";
import { Loading, useLoaded } from "../../parts/load.tsx";
import { say } from "../../parts/messages.tsx";
import { Page } from "../../parts/page.tsx";
import { link } from "../../route.ts";
import { may } from "../../session.ts";
import { Benchmarks } from "./benchmarks.tsx";
import { HostCard } from "./host-card.tsx";
import { HostDialog } from "./host-dialog.tsx";
import { hostName } from "./host-name.ts";
import { InstallSteps, TokenDialog } from "./token-dialog.tsx";
import "./hosts.css";

/** Hosts with their agents, and the mining programs that they run. */
export default function Hosts() {
  const loaded = useLoaded(async (signal) => {
    const [hosts, miners, software] = await Promise.all([
      call("listHosts", {}, { signal }),
      may("listManagedMiners") ? call("listManagedMiners", {}, { signal }) : [],
      may("listMiningSoftware") ? call("listMiningSoftware", {}, { signal }) : [],
    ]);
    return {
      hosts: [...hosts].sort((one, other) => byName(hostName(one), hostName(other))),
      miners,
      software: new Map(software.map(({ id, name }) => [id, name])),
    };
  }, []);
  useFresh(loaded.reload);
  const [edits, setEdits] = useState<Host | "new" | null>(null);
  const [tokenFor, setTokenFor] = useState<Host | null>(null);
  const add = may("saveHost") ? (
    <button type="button" class="button primary" onClick={() => setEdits("new")}>
      <Icon name="plus" /> {t.hosts.add}
    </button>
  ) : null;
  const count = loaded.value?.hosts.length ?? 0;
  const actions = (
    <>
      {count > 1 && may("saveManagedMiner") ? (
        <a class="button" href={link("hosts/several")}>
          <Icon name="hosts" /> {t.hosts.several.title}
        </a>
      ) : null}
      {add}
    </>
  );
  return (
    <Page limited title={t.menu.hosts} lead={t.hosts.lead} actions={count === 0 ? undefined : actions}>
      <Loading from={loaded}>
        {({ hosts, miners, software }, known) =>
          hosts.length === 0 ? (
            <>
              <EmptyState known={known} icon="hosts" title={t.hosts.none} text={t.hosts.noneText}>
                {add}
              </EmptyState>
              {may("addAgent") ? (
                <section class="card">
                  <h2>{t.hosts.install}</h2>
                  <InstallSteps token={null} />
                </section>
              ) : null}
            </>
          ) : (
            hosts.map((host) => (
              <HostCard
                key={host.id}
                host={host}
                miners={miners.filter(({ hostId }) => hostId === host.id)}
                software={software}
                onEdit={() => setEdits(host)}
                onToken={() => setTokenFor(host)}
                onChanged={loaded.reload}
              />
            ))
          )
        }
      </Loading>
      {may("listBenchmarks") ? <Benchmarks software={loaded.value?.software} /> : null}
      {edits === null ? null : (
        <HostDialog
          host={edits === "new" ? null : edits}
          onClose={() => setEdits(null)}
          onSaved={(host) => {
            say(t.hosts.saved);
            loaded.reload();
            // Without its agent, a new host does nothing.
            if (edits === "new" && may("addAgent")) setTokenFor(host);
            setEdits(null);
          }}
        />
      )}
      {tokenFor === null ? null : (
        <TokenDialog host={tokenFor} onMade={loaded.reload} onClose={() => setTokenFor(null)} />
      )}
    </Page>
  );
}
