import { useState } from "preact/hooks";
import { importColumns } from "../../../contract/import-columns.ts";
import type { ImportPreview } from "../../../contract/imports.ts";
import { addressOf, call } from "../../api.ts";
import { number } from "../../format.ts";
import { t } from "../../language.ts";
import { rigs } from "../../live.ts";
import { Field } from "../../parts/field.tsx";
import { Icon } from "../../parts/icon.tsx";
import { say, sayProblem } from "../../parts/messages.tsx";
import { Card } from "../../parts/page.tsx";
import { useSending } from "../../parts/use-form.ts";
import { may } from "../../session.ts";
import { ImportEffect } from "./import-effect.tsx";

/** Bytes. */
const longestFile = 1_000_000;

/** Imports rigs from a pasted table or a file, after a preview, and exports the rigs as such a table. */
export function FromList() {
  const [text, setText] = useState("");
  const [preview, setPreview] = useState<ImportPreview | null>(null);
  const { problem, busy, send } = useSending();
  const change = (next: string) => {
    setText(next);
    setPreview(null);
  };
  const read = async (files: FileList | null) => {
    const file = files?.[0];
    if (file === undefined) return;
    if (file.size > longestFile) return sayProblem(new Error(t.add.tooLong));
    const own = new TextDecoder("utf-8", { fatal: true });
    const bytes = await file.arrayBuffer();
    try {
      change(own.decode(bytes));
    } catch {
      sayProblem(new Error(t.add.notUtf8));
    }
  };
  const commit = (id: number) =>
    send(async () => {
      const { added, changed } = await call("commitImport", { id });
      change("");
      say(t.add.imported({ added: number(added), changed: number(changed) }));
    });
  return (
    <>
      <Card>
        <form
          class="add-form"
          onSubmit={(event) => {
            event.preventDefault();
            setPreview(null);
            void send(async () => setPreview(await call("previewImport", { csv: text })));
          }}
        >
          <Field
            label={t.add.list}
            hint={t.add.listHint({ columns: importColumns.join(", ") })}
            problem={problem ?? undefined}
          >
            {(control) => (
              <textarea
                {...control}
                class="mono"
                dir="ltr"
                rows={8}
                value={text}
                spellcheck={false}
                onInput={({ currentTarget }) => change(currentTarget.value)}
              />
            )}
          </Field>
          <Field label={t.add.file}>
            {(control) => (
              <input
                {...control}
                type="file"
                accept=".csv,.tsv,.txt,text/csv,text/plain"
                onChange={({ currentTarget }) => void read(currentTarget.files)}
              />
            )}
          </Field>
          <button class="button" type="submit" disabled={text.trim() === "" || busy}>
            {t.add.preview}
          </button>
        </form>
        {preview === null ? null : <ImportEffect preview={preview} busy={busy} commit={commit} />}
      </Card>
      {rigs.value.byId.size === 0 || !may("exportMiners") ? null : (
        <Card title={t.add.export}>
          <p class="hint">{t.add.exportHint}</p>
          <a
            class="button save-list"
            href={addressOf("exportMiners", { format: "csv", bom: true })}
            download="rigs.csv"
          >
            <Icon name="download" /> {t.add.download}
          </a>
        </Card>
      )}
    </>
  );
}
