import { useState } from "preact/hooks";
import type { Host, HostAgent, ManagedMiner } from "../../../contract/resources.ts";
import { call } from "../../api.ts";
import { duration, percent, scaled } from "../../format.ts";
import { t } from "../../language.ts";
import { Confirm } from "../../parts/dialog.tsx";
import { Icon } from "../../parts/icon.tsx";
import { say } from "../../parts/messages.tsx";
import { Age } from "../../parts/status.tsx";
import { link } from "../../route.ts";
import { may } from "../../session.ts";
import { Gpus } from "./gpus.tsx";
import { hostName } from "./host-name.ts";
import { ManagedList } from "./managed-list.tsx";

interface HostCardProps {
  readonly host: Host;
  readonly miners: readonly ManagedMiner[];
  /** Names by id. */
  readonly software: ReadonlyMap<string, string>;
  readonly onEdit: () => void;
  readonly onToken: () => void;
  readonly onChanged: () => void;
}

/** A host: its agent, hardware and state, and its programs. */
export function HostCard({ host, miners, software, onEdit, onToken, onChanged }: HostCardProps) {
  const [asked, setAsked] = useState<"revoke" | "delete" | null>(null);
  const name = hostName(host);
  const { agent } = host;
  // The service's own machine has an agent without a token, and is declared in the configuration file.
  const isOwn = agent !== null && agent.tokenId === null;
  const of = <span class="visually-hidden">: {name}</span>;
  return (
    <section class="card host" aria-labelledby={`host-${host.id}`}>
      <header class="card-head">
        <h2 id={`host-${host.id}`}>
          <bdi>{name}</bdi>
          {host.description === "" || host.description === host.hostname ? null : (
            <small>
              {" "}
              <bdi>{host.hostname}</bdi>
            </small>
          )}
        </h2>
        {isOwn ? (
          <span class="tag">{t.hosts.own}</span>
        ) : (
          <div class="row">
            {may("saveHost") ? (
              <button type="button" class="button" onClick={onEdit}>
                <Icon name="edit" /> {t.hosts.change}
                {of}
              </button>
            ) : null}
            {may("addAgent") && agent === null ? (
              <button type="button" class="button" onClick={onToken}>
                <Icon name="key" /> {t.hosts.makeToken}
                {of}
              </button>
            ) : null}
            {may("deleteAgent") && agent?.tokenId != null ? (
              <button type="button" class="button" onClick={() => setAsked("revoke")}>
                <Icon name="close" /> {t.hosts.revoke}
                {of}
              </button>
            ) : null}
            {may("deleteHost") && miners.length === 0 ? (
              <button type="button" class="button" onClick={() => setAsked("delete")}>
                <Icon name="trash" /> {t.shell.delete}
                {of}
              </button>
            ) : null}
          </div>
        )}
      </header>
      <Agent agent={agent} />
      {agent === null || (!agent.connected && agent.at === null) ? null : (
        <details class="host-more">
          <summary>{t.hosts.gpus}</summary>
          <Gpus hostId={host.id} />
        </details>
      )}
      <ManagedList miners={miners} software={software} onChanged={onChanged} />
      {may("saveManagedMiner") ? (
        <p>
          <a class="button" href={link(`hosts/miners/new?host=${host.id}`)}>
            <Icon name="plus" /> {t.hosts.addMiner}
            {of}
          </a>
        </p>
      ) : null}
      {asked === "revoke" && agent?.tokenId != null ? (
        <Confirm
          title={t.hosts.revokeTitle({ name })}
          text={t.hosts.revokeText}
          verb={t.hosts.revoke}
          dangerous
          onConfirm={async () => {
            say((await call("deleteAgent", { id: agent.tokenId ?? 0 })).message);
            onChanged();
          }}
          onClose={() => setAsked(null)}
        />
      ) : null}
      {asked === "delete" ? (
        <Confirm
          title={t.hosts.deleteTitle({ name })}
          text={t.hosts.deleteText}
          verb={t.shell.delete}
          dangerous
          onConfirm={async () => {
            say((await call("deleteHost", { id: host.id })).message);
            onChanged();
          }}
          onClose={() => setAsked(null)}
        />
      ) : null}
    </section>
  );
}

function Agent({ agent }: { agent: HostAgent | null }) {
  if (agent === null) return may("addAgent") ? <p class="hint">{t.hosts.noAgent}</p> : null;
  const { connected, at, version, permissions, report } = agent;
  const facts: readonly (readonly [string, string | null])[] = [
    [t.hosts.version, version],
    ...(report === null
      ? []
      : ([
          [t.hosts.system, report.system],
          [t.hosts.cpu, `${report.cpu} (${report.cores})`],
          [t.hosts.load, report.load === null ? null : percent(report.load / 100)],
          [
            t.hosts.memory,
            report.memory === null || report.memoryFree === null
              ? null
              : t.hosts.freeOf({ free: scaled(report.memoryFree, "B"), all: scaled(report.memory, "B") }),
          ],
          [t.hosts.disk, report.diskFree === null ? null : scaled(report.diskFree, "B")],
          [t.hosts.uptime, duration(report.uptime)],
        ] as const)),
  ];
  return (
    <>
      <p class={`status ${connected ? "good" : at === null ? "off" : "bad"}`}>
        <span class="dot" aria-hidden="true" />
        <span>
          {connected ? t.hosts.connected : at === null ? t.hosts.neverConnected : t.hosts.away}{" "}
          {connected || at === null ? null : <Age time={at} />}
        </span>
      </p>
      <dl class="host-facts">
        {facts.map(([name, value]) =>
          value === null ? null : (
            <div key={name}>
              <dt>{name}</dt>
              <dd>
                <bdi>{value}</bdi>
              </dd>
            </div>
          ),
        )}
        {permissions === null ? null : (
          <div class="wide">
            <dt>{t.hosts.permissions}</dt>
            <dd>
              <ul class="permissions">
                {(["downloads", "gpuSettings", "reboot"] as const).map((each) => (
                  <li key={each}>
                    <Icon name={permissions[each] ? "check" : "close"} />{" "}
                    {permissions[each] ? t.hosts.may[each] : t.hosts.mayNot[each]}
                  </li>
                ))}
                {permissions.folders.length === 0 ? null : (
                  <li>
                    {t.hosts.folders} <code dir="ltr">{permissions.folders.join(", ")}</code>
                  </li>
                )}
              </ul>
            </dd>
          </div>
        )}
      </dl>
    </>
  );
}
