import { useState } from "preact/hooks";
import { importColumns } from "../../../contract/import-columns.ts";
import type { ImportMistake, ImportPreview, ImportRow } from "../../../contract/imports.ts";
import { addressOf, call } from "../../api.ts";
import { ownWords } from "../../details.ts";
import { counted, number } from "../../format.ts";
import { t } from "../../language.ts";
import { rigs } from "../../live.ts";
import { Field } from "../../parts/field.tsx";
import { Icon } from "../../parts/icon.tsx";
import { say, sayProblem } from "../../parts/messages.tsx";
import { Card } from "../../parts/page.tsx";
import { Scroll } from "../../parts/scroll.tsx";
import { useButton } from "../../parts/use-form.ts";

/** Bytes that the service takes. */
const longestFile = 1_000_000;
/** Rows of each table. */
const mostShown = 100;

/** Imports rigs from a pasted table or a file, after a preview, and exports the rigs as such a table. */
export function FromList() {
  const [text, setText] = useState("");
  const [preview, setPreview] = useState<ImportPreview | null>(null);
  const { busy, send } = useButton();
  const change = (next: string) => {
    setText(next);
    setPreview(null);
  };
  const read = async (files: FileList | null) => {
    const file = files?.[0];
    if (file === undefined) return;
    if (file.size > longestFile) return sayProblem(new Error(t.add.tooLong));
    const decoded = utf8(await file.arrayBuffer());
    if (decoded === null) return sayProblem(new Error(t.add.notUtf8));
    change(decoded);
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
            void send(async () => setPreview(await call("previewImport", { csv: text })));
          }}
        >
          <Field label={t.add.list} hint={t.add.listHint({ columns: importColumns.join(", ") })}>
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
        <div role="status">{preview === null ? null : <Summary preview={preview} />}</div>
        {preview === null ? null : <Details preview={preview} busy={busy} commit={commit} />}
      </Card>
      {rigs.value.byId.size === 0 ? null : (
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

function utf8(bytes: ArrayBuffer): string | null {
  try {
    return new TextDecoder("utf-8", { fatal: true }).decode(bytes);
  } catch {
    return null;
  }
}

function Summary({ preview: { counts, ignored } }: { preview: ImportPreview }) {
  const { added, changed, same, error } = counts;
  return (
    <>
      <p>
        {t.add.counts({ added: number(added), changed: number(changed), same: number(same), error: number(error) })}
      </p>
      {ignored.length === 0 ? null : <p>{t.add.ignored({ columns: ignored.join(", ") })}</p>}
    </>
  );
}

interface DetailsProps {
  readonly preview: ImportPreview;
  readonly busy: boolean;
  readonly commit: (id: number) => Promise<void>;
}

function Details({ preview: { id, mistakes, moreMistakes, rows, counts }, busy, commit }: DetailsProps) {
  const count = counts.added + counts.changed;
  if (id === null) return <Mistakes mistakes={mistakes} more={moreMistakes} />;
  if (count === 0) return <p>{t.add.nothingToImport}</p>;
  return (
    <>
      <Changes rows={rows.filter(({ state }) => state === "added" || state === "changed")} />
      <button type="button" class="button primary save-list" disabled={busy} onClick={() => void commit(id)}>
        {counted(count, t.add.importThem)}
      </button>
    </>
  );
}

function Mistakes({ mistakes, more }: { mistakes: readonly ImportMistake[]; more: number }) {
  return (
    <>
      <p class="field-problem">{t.add.fix}</p>
      <Scroll name={t.add.mistakes}>
        <table class="add-table">
          <caption>{t.add.mistakes}</caption>
          <thead>
            <tr>
              <th scope="col">{t.add.lineName}</th>
              <th scope="col">{t.add.column}</th>
              <th scope="col">{t.add.mistake}</th>
            </tr>
          </thead>
          <tbody>
            {mistakes.slice(0, mostShown).map(({ line, column, name, message, coded }) => (
              <tr key={`${line} ${column} ${message}`}>
                <th scope="row">{number(line)}</th>
                <td>
                  <bdi>{name ?? (column === null ? "" : number(column))}</bdi>
                </td>
                <td dir="auto">{ownWords(message, coded)}</td>
              </tr>
            ))}
          </tbody>
        </table>
      </Scroll>
      <More count={Math.max(0, mistakes.length - mostShown) + more} />
    </>
  );
}

function Changes({ rows }: { rows: readonly ImportRow[] }) {
  return (
    <>
      <Scroll name={t.add.previewed}>
        <table class="add-table">
          <caption>{t.add.previewed}</caption>
          <thead>
            <tr>
              <th scope="col">{t.add.lineName}</th>
              <th scope="col">{t.add.rig}</th>
              <th scope="col">{t.add.happens}</th>
            </tr>
          </thead>
          <tbody>
            {rows.slice(0, mostShown).map((row) => (
              <tr key={row.line}>
                <td>{number(row.line)}</td>
                <th scope="row">
                  <bdi>{row.name}</bdi>
                </th>
                <td dir="auto">{whatHappens(row)}</td>
              </tr>
            ))}
          </tbody>
        </table>
      </Scroll>
      <More count={Math.max(0, rows.length - mostShown)} />
    </>
  );
}

const More = ({ count }: { count: number }) =>
  count === 0 ? null : <p class="hint">{t.add.moreRows({ count: number(count) })}</p>;

function whatHappens({ state, changes }: ImportRow): string {
  if (state === "added") return t.add.states.added;
  const text = (value: string | null): string => value ?? t.add.unset;
  return changes.map(({ field, from, to }) => t.add.change({ field, from: text(from), to: text(to) })).join(", ");
}
