import type { ImportMistake, ImportPreview, ImportRow } from "../../../contract/imports.ts";
import { ownWords } from "../../details.ts";
import { counted, number, unknown } from "../../format.ts";
import { t } from "../../language.ts";
import { Scroll } from "../../parts/scroll.tsx";

interface ImportEffectProps {
  readonly preview: ImportPreview;
  readonly busy: boolean;
  readonly commit: (id: number) => void;
}

/** Rows of each table; the rest are counted. */
const mostShown = 200;

/** What an import would do, or its mistakes, and the button that does it. */
export function ImportEffect({ preview, busy, commit }: ImportEffectProps) {
  const { id, counts, ignored, mistakes, moreMistakes } = preview;
  const rows = preview.rows.filter(({ state }) => state === "added" || state === "changed");
  return (
    <div class="import-effect">
      <div role="status">
        <p>
          {t.add.counts({
            added: number(counts.added),
            changed: number(counts.changed),
            same: number(counts.same),
            error: number(counts.error),
          })}
        </p>
        {ignored.length === 0 ? null : <p class="hint">{t.add.ignored({ columns: ignored.join(", ") })}</p>}
        {id === null ? <p class="field-problem">{t.add.fix}</p> : null}
        {id !== null && rows.length === 0 ? <p>{t.add.nothingToImport}</p> : null}
      </div>
      {mistakes.length === 0 ? null : <Mistakes mistakes={mistakes} more={moreMistakes} />}
      {id === null || rows.length === 0 ? null : <Rows rows={rows} />}
      {id === null || rows.length === 0 ? null : (
        <button type="button" class="button primary" disabled={busy} onClick={() => commit(id)}>
          {counted(rows.length, t.add.importThem)}
        </button>
      )}
    </div>
  );
}

const Mistakes = ({ mistakes, more }: { mistakes: readonly ImportMistake[]; more: number }) => (
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
              {column === null ? unknown : number(column)} {name === null ? null : <bdi class="mono">{name}</bdi>}
            </td>
            <td dir="auto">{ownWords(message, coded)}</td>
          </tr>
        ))}
      </tbody>
    </table>
    <More count={mistakes.length + more - mostShown} />
  </Scroll>
);

const Rows = ({ rows }: { rows: readonly ImportRow[] }) => (
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
            <th scope="row">{number(row.line)}</th>
            <td>
              <bdi>{row.name}</bdi>
            </td>
            <td>{row.state === "added" ? <Added row={row} /> : <Changed row={row} />}</td>
          </tr>
        ))}
      </tbody>
    </table>
    <More count={rows.length - mostShown} />
  </Scroll>
);

const Added = ({ row }: { row: ImportRow }) => (
  <>
    <strong>{t.add.states.added}</strong>{" "}
    {row.changes
      .filter(({ field }) => field !== "name")
      .map(({ field, to }) => (
        <span key={field} class="import-change">
          <bdi class="mono">{field}</bdi> <bdi>{to}</bdi>{" "}
        </span>
      ))}
  </>
);

const Changed = ({ row }: { row: ImportRow }) => (
  <>
    <strong>{t.add.states.changed}</strong>{" "}
    {row.changes.map(({ field, from, to }) => (
      <span key={field} class="import-change">
        {t.add.change({ field, from: from ?? t.add.unset, to: to ?? t.add.unset })}{" "}
      </span>
    ))}
  </>
);

const More = ({ count }: { count: number }) =>
  count > 0 ? <p class="hint">{t.add.moreRows({ count: number(count) })}</p> : null;
