import { useState } from "preact/hooks";
import type { ChannelState } from "../../../contract/channels.ts";
import { call } from "../../api.ts";
import { counted, dateTime } from "../../format.ts";
import { t } from "../../language.ts";
import { Confirm } from "../../parts/dialog.tsx";
import { EmptyState } from "../../parts/empty-state.tsx";
import { useFresh } from "../../parts/fresh.ts";
import { Icon } from "../../parts/icon.tsx";
import { Loading, useLoaded } from "../../parts/load.tsx";
import { problemText, say } from "../../parts/messages.tsx";
import { Age } from "../../parts/status.tsx";
import { link } from "../../route.ts";
import { may } from "../../session.ts";
import { Entry, FromFile, ListHead } from "./entry.tsx";

/** The notification channels, and whether messages arrive. */
export function Channels() {
  const list = useLoaded((signal) => call("listChannels", {}, { signal }), []);
  useFresh(list.reload);
  const [deletes, setDeletes] = useState<ChannelState | null>(null);
  const add = may("addChannel") ? (
    <a class="button primary" href={link("settings/channels/new")}>
      <Icon name="plus" /> {t.settings.addChannel}
    </a>
  ) : null;
  return (
    <>
      <ListHead text={t.settings.channelsLead}>
        {list.value !== undefined && list.value.length > 0 ? add : null}
      </ListHead>
      <Loading from={list}>
        {(channels, known) =>
          channels.length === 0 ? (
            <EmptyState known={known} icon="bell" title={t.settings.noChannels} text={t.settings.noChannelsText}>
              {add}
            </EmptyState>
          ) : (
            <ul class="entries">
              {channels.map((channel) => (
                <ChannelEntry
                  key={channel.key}
                  channel={channel}
                  onDelete={() => setDeletes(channel)}
                  onTested={list.reload}
                />
              ))}
            </ul>
          )
        }
      </Loading>
      {deletes === null ? null : (
        <Confirm
          title={t.settings.deleteChannelTitle({ key: deletes.key })}
          text={t.settings.deleteChannelText}
          verb={t.shell.delete}
          dangerous
          onConfirm={async () => {
            await call("deleteChannel", { key: deletes.key });
            say(t.settings.deleted);
            list.reload();
          }}
          onClose={() => setDeletes(null)}
        />
      )}
    </>
  );
}

interface ChannelEntryProps {
  readonly channel: ChannelState;
  readonly onDelete: () => void;
  readonly onTested: () => void;
}

function ChannelEntry({ channel, onDelete, onTested }: ChannelEntryProps) {
  const { key, type, host, from, groups, quiet, owner, problem } = channel;
  const isOwn = owner === "store";
  return (
    <Entry
      name={key}
      tags={
        <>
          <span class="tag">{type}</span>
          <FromFile owner={owner} />
        </>
      }
      facts={[
        host === "" ? null : <bdi>{host}</bdi>,
        t.settings.fromSeverity({ severity: t.severity[from] }),
        groups === null ? null : <bdi>{groups.join(", ")}</bdi>,
        quiet === null ? null : t.settings.quiet({ hours: quiet }),
      ]}
      actions={
        <>
          {isOwn && may("changeChannel") ? (
            <a class="button small" href={link(`settings/channels/${encodeURIComponent(key)}`)}>
              <Icon name="edit" /> {t.settings.change}
              <span class="visually-hidden">: {key}</span>
            </a>
          ) : null}
          {isOwn && may("deleteChannel") ? (
            <button type="button" class="button small" onClick={onDelete}>
              <Icon name="trash" /> {t.shell.delete}
              <span class="visually-hidden">: {key}</span>
            </button>
          ) : null}
        </>
      }
    >
      <div class="entry-more">
        {problem === null ? null : (
          <p class="status bad">
            <span dir="auto">{problem}</span>
          </p>
        )}
        <Delivery channel={channel} />
        {may("testChannel") && problem === null ? <Test name={key} onTested={onTested} /> : null}
      </div>
    </Entry>
  );
}

/** Sent, waiting and given-up messages. */
function Delivery({ channel: { lastSentUtc, lastError, waiting, notDelivered } }: { channel: ChannelState }) {
  const tone = lastError !== null ? "bad" : lastSentUtc === null ? "off" : "good";
  return (
    <>
      <p class={`status ${tone}`}>
        <span class="dot" aria-hidden="true" />
        <span>
          {lastSentUtc === null ? (
            t.settings.nothingSent
          ) : (
            <>
              {t.settings.delivered} <Age time={lastSentUtc} />
            </>
          )}
          {waiting === 0 ? null : ` · ${counted(waiting, t.settings.waiting)}`}
        </span>
      </p>
      {lastError === null ? null : (
        <p class="entry-problem">
          {t.settings.lastProblem} <span dir="auto">{lastError}</span>
        </p>
      )}
      {notDelivered.length === 0 ? null : (
        <details>
          <summary>{counted(notDelivered.length, t.settings.givenUp)}</summary>
          <ul class="given-up">
            {notDelivered.map(({ timeUtc, title, message, error }) => (
              <li key={`${timeUtc} ${title} ${message}`}>
                <time dateTime={timeUtc}>{dateTime(timeUtc)}</time> <bdi>{title === "" ? message : title}</bdi>
                <small dir="auto">{error}</small>
              </li>
            ))}
          </ul>
        </details>
      )}
    </>
  );
}

/** Sends a test message; the channel's answer appears beside the button. */
function Test({ name, onTested }: { name: string; onTested: () => void }) {
  const [state, setState] = useState<{ tone: "busy" | "good" | "bad"; text: string } | null>(null);
  const test = async () => {
    setState({ tone: "busy", text: t.settings.testing });
    try {
      const { success, message } = await call("testChannel", { key: name }, { timeoutMs: 90_000 });
      setState({ tone: success ? "good" : "bad", text: message });
    } catch (error) {
      setState({ tone: "bad", text: problemText(error) });
    }
    onTested();
  };
  return (
    <p class="row">
      <button type="button" class="button small" disabled={state?.tone === "busy"} onClick={() => void test()}>
        {t.settings.test}
        <span class="visually-hidden">: {name}</span>
      </button>
      <span role="status" class={state === null ? "" : `status ${state.tone}`}>
        <span dir="auto">{state?.text}</span>
      </span>
    </p>
  );
}
