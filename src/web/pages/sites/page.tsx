import { numberAt } from "../../../contract/site-numbers.ts";
import type { Site } from "../../../contract/sites.ts";
import { call } from "../../api.ts";
import { now } from "../../clock.ts";
import { ago, counted, number } from "../../format.ts";
import { t } from "../../language.ts";
import { EmptyState } from "../../parts/empty-state.tsx";
import { Loading, useLoaded, useReloadOn } from "../../parts/load.tsx";
import { Card, Page } from "../../parts/page.tsx";
import { Mark, type Tone } from "../../parts/status.tsx";
import { link } from "../../route.ts";
import { may } from "../../session.ts";
import { Token } from "./token.tsx";
import "./sites.css";

const tones: Record<Site["state"], Tone> = {
  connecting: "busy",
  connected: "good",
  unreachable: "bad",
  refused: "bad",
};

/** The services whose rigs are shown here, and whether they can be reached. */
export default function SitesPage() {
  const loaded = useLoaded((signal) => call("listSites", {}, { signal }), []);
  useReloadOn(["site"], loaded.reload);
  const settings = may("listSettings") ? (
    <a class="button" href={link("settings/service/sites")}>
      {t.sites.change}
    </a>
  ) : undefined;
  return (
    <Page title={t.sites.title} lead={t.sites.lead} actions={settings}>
      <Loading from={loaded}>
        {(sites, known) =>
          sites.length === 0 ? (
            <EmptyState icon="rack" known={known} title={t.sites.none} />
          ) : (
            <div class="cards">
              {sites.map((site) => (
                <SiteCard key={site.id} site={site} onChanged={loaded.reload} />
              ))}
            </div>
          )
        }
      </Loading>
    </Page>
  );
}

const SiteCard = ({ site, onChanged }: { site: Site; onChanged: () => void }) => (
  <Card title={<bdi>{site.name}</bdi>} actions={<Mark tone={tones[site.state]}>{t.sites.states[site.state]}</Mark>}>
    {site.problem === null ? null : (
      <p class="site-problem">
        <bdi>{site.problem}</bdi>
      </p>
    )}
    <dl class="site-facts">
      <div>
        <dt>{t.sites.since}</dt>
        <dd>{ago(Date.parse(site.since), now.value)}</dd>
      </div>
      <div>
        <dt>{t.sites.rigs}</dt>
        <dd>{number(site.miners ?? undefined)}</dd>
      </div>
      <div>
        <dt>{t.sites.version}</dt>
        <dd>{site.version ?? t.sites.otherProduct}</dd>
      </div>
      {site.definitions === undefined ? null : (
        <div>
          <dt>{t.sites.definitions}</dt>
          <dd>
            {number(site.definitions.pushed)}
            {site.definitions.pending === 0
              ? null
              : ` (${counted(site.definitions.pending, t.sites.pendingDefinitions)})`}
          </dd>
        </div>
      )}
      {site.clock === null ? null : (
        <div>
          <dt>{t.sites.clock}</dt>
          <dd>{site.clock > 0 ? counted(site.clock, t.sites.ahead) : counted(-site.clock, t.sites.behind)}</dd>
        </div>
      )}
    </dl>
    {site.definitions?.refused.map(({ kind, name, message }) => (
      <p key={`${kind} ${name}`} class="site-problem">
        <bdi>{t.sites.notTaken({ name, why: message })}</bdi>
      </p>
    ))}
    {site.lacks.length === 0 ? null : <p class="hint">{counted(site.lacks.length, t.sites.lacks)}</p>}
    <p class="site-links">
      <a class="button" href={`${link("rigs")}?group=${numberAt(site.id, 0)}`}>
        {t.sites.showRigs}
      </a>
      {site.url === null ? null : (
        <a class="button quiet" href={site.url} target="_blank" rel="noreferrer">
          {t.sites.open}
        </a>
      )}
      {site.admitted === null || !may("admitSite") ? null : <Token site={site} onChanged={onChanged} />}
    </p>
  </Card>
);
