import { useMemo, useState } from "preact/hooks";
import { call } from "../../api.ts";
import { counted, number } from "../../format.ts";
import { t } from "../../language.ts";
import { rigs } from "../../live.ts";
import { Field } from "../../parts/field.tsx";
import { Icon } from "../../parts/icon.tsx";
import { sayProblem } from "../../parts/messages.tsx";
import { Card } from "../../parts/page.tsx";
import { Scroll } from "../../parts/scroll.tsx";
import { may } from "../../session.ts";
import { adding, addRigs } from "./add-rigs.ts";
import { columns, rigListIn, rigListOf } from "./rig-list.ts";

const longestFile = 5_000_000;
const mostShown = 100;

/** Imports rigs from a pasted table or a file, and exports the rigs as such a table. */
export function FromList() {
  const [text, setText] = useState("");
  const list = useMemo(() => rigListIn(text, t.add.listProblems), [text]);
  const good = list.rigs.flatMap(({ rig }) => (rig === null ? [] : [rig]));
  const bad = list.rigs.filter(({ problems }) => problems.length > 0);
  const read = async (files: FileList | null) => {
    const file = files?.[0];
    if (file === undefined) return;
    if (file.size > longestFile) return sayProblem(new Error(t.add.tooLong));
    setText(await file.text());
  };
  return (
    <>
      <Card>
        <form
          class="add-form"
          onSubmit={(event) => {
            event.preventDefault();
            setText("");
            void addRigs(good);
          }}
        >
          <Field label={t.add.list} hint={t.add.listHint({ columns: columns.join(", ") })}>
            {(control) => (
              <textarea
                {...control}
                class="mono"
                dir="ltr"
                rows={8}
                value={text}
                spellcheck={false}
                onInput={({ currentTarget }) => setText(currentTarget.value)}
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
          {text.trim() === "" ? null : (
            <div role="status">
              <p>{counted(good.length, t.add.toAdd)}</p>
              {list.problems.map((problem) => (
                <p key={problem} class="field-problem" dir="auto">
                  {problem}
                </p>
              ))}
              {bad.length === 0 ? null : <p class="field-problem">{counted(bad.length, t.add.leftOut)}</p>}
            </div>
          )}
          {bad.length === 0 ? null : (
            <Scroll name={t.add.mistakes}>
              <table class="add-table">
                <caption>{t.add.mistakes}</caption>
                <tbody>
                  {bad.slice(0, mostShown).map(({ line, problems }) => (
                    <tr key={line}>
                      <th scope="row">{t.add.line({ line: number(line) })}</th>
                      <td>{problems.join(" ")}</td>
                    </tr>
                  ))}
                </tbody>
              </table>
            </Scroll>
          )}
          <button class="button primary" type="submit" disabled={good.length === 0 || adding.value?.running === true}>
            {good.length === 0 ? t.add.title : counted(good.length, t.add.addThem)}
          </button>
        </form>
      </Card>
      {rigs.value.byId.size === 0 ? null : (
        <Card title={t.add.export}>
          <p class="hint">{t.add.exportHint}</p>
          <button type="button" class="button save-list" onClick={() => void saveList()}>
            <Icon name="download" /> {t.add.download}
          </button>
        </Card>
      )}
    </>
  );
}

async function saveList(): Promise<void> {
  try {
    const groups = may("listGroups") ? await call("listGroups", {}) : [];
    const names = new Map(groups.map(({ id, name }) => [id, name]));
    const text = rigListOf(rigs.value.byId.values(), (id) => names.get(id) ?? "");
    const address = URL.createObjectURL(new Blob(["\uFEFF", text], { type: "text/csv" }));
    const anchor = document.createElement("a");
    anchor.href = address;
    anchor.download = "rigs.csv";
    anchor.click();
    URL.revokeObjectURL(address);
  } catch (error) {
    sayProblem(error);
  }
}
