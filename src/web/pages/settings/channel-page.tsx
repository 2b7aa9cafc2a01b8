import { useMemo, useState } from "preact/hooks";
import { useLocation, useRoute } from "preact-iso";
import type { ChannelState } from "../../../contract/channels.ts";
import { call } from "../../api.ts";
import { withHints } from "../../hints.ts";
import { t } from "../../language.ts";
import { EmptyState } from "../../parts/empty-state.tsx";
import { Field } from "../../parts/field.tsx";
import { Loading, useLoaded } from "../../parts/load.tsx";
import { say } from "../../parts/messages.tsx";
import { Card, Page } from "../../parts/page.tsx";
import { Editor } from "../../parts/schema-form/editor.tsx";
import { emptyOf, readable, type Schema } from "../../parts/schema-form/schema.ts";
import { link } from "../../route.ts";
import { may } from "../../session.ts";
import { type Definition, forPeople, patchOf } from "../rules/definition.ts";
import { channelWords } from "./channel-words.ts";
import "./settings.css";

/** One channel, or a new one after choosing its type. */
export default function ChannelPage() {
  const { params } = useRoute();
  const { route } = useLocation();
  const id = params.id ?? "";
  const [type, setType] = useState("ntfy");
  const loaded = useLoaded(async (signal) => {
    const [{ channels: schemas }, channels, groups] = await Promise.all([
      withHints(import("virtual:schemas")),
      call("listChannels", {}, { signal }),
      may("listGroups") ? call("listGroups", {}, { signal }) : [],
    ]);
    return { schemas, channels, words: channelWords(groups.map(({ name }) => name)) };
  }, []);
  const done = () => {
    say(t.settings.saved);
    route(link("settings?tab=notifications"));
  };
  return (
    <Loading from={loaded}>
      {({ schemas, channels, words }, known) => {
        const channel = channels.find(({ key }) => key === id);
        const schema = schemas[channel?.type ?? type];
        if ((channel === undefined && id !== "new") || schema === undefined)
          return (
            <EmptyState known={known} icon="search" title={t.settings.channelGone} heading="h1">
              <a class="button" href={link("settings?tab=notifications")}>
                {t.settings.tabs.notifications}
              </a>
            </EmptyState>
          );
        return (
          <Page limited title={channel?.key ?? t.settings.addChannel} lead={channel?.type}>
            <Card>
              {channel === undefined ? (
                <div class="channel-type">
                  <Field label={t.settings.channelType} hint={t.settings.channelTypeHint}>
                    {(control) => (
                      <select {...control} value={type} onChange={({ currentTarget }) => setType(currentTarget.value)}>
                        {Object.keys(schemas).map((each) => (
                          <option key={each} value={each}>
                            {t.settings.channelTypes[each as keyof typeof t.settings.channelTypes] ?? each}
                          </option>
                        ))}
                      </select>
                    )}
                  </Field>
                </div>
              ) : null}
              <ChannelEditor
                key={channel?.key ?? type}
                channel={channel}
                type={type}
                whole={schema}
                words={words}
                onSaved={done}
              />
            </Card>
          </Page>
        );
      }}
    </Loading>
  );
}

interface ChannelEditorProps {
  readonly channel: ChannelState | undefined;
  readonly type: string;
  readonly whole: Schema;
  readonly words: ReturnType<typeof channelWords>;
  readonly onSaved: () => void;
}

function ChannelEditor({ channel, type, whole, words, onSaved }: ChannelEditorProps) {
  const schema = useMemo(() => forPeople(whole, channel === undefined ? [] : ["key"]), [whole, channel === undefined]);
  const written = JSON.stringify(channel?.settings ?? null);
  const saved = useMemo((): Definition => {
    const start = channel === undefined ? emptyOf(schema, whole, []) : readable(channel.settings, whole, whole);
    return Object.fromEntries(
      Object.entries(Object(start)).filter(
        ([name, value]) => value !== null && name !== "type" && (channel === undefined || name !== "key"),
      ),
    );
  }, [written, schema]);
  return (
    <Editor
      schema={schema}
      saved={saved}
      words={words}
      readOnly={channel?.owner === "file" ? t.settings.fromFileHint : may("changeChannel") ? null : t.settings.mayNot}
      isNew={channel === undefined}
      verb={t.shell.save}
      onSave={async (settings) => {
        if (channel === undefined) await call("addChannel", { type, ...settings });
        // Secrets that were not entered again stay unchanged.
        else await call("changeChannel", { ...patchOf(saved, settings), key: channel.key });
        onSaved();
      }}
    />
  );
}
