import { useState } from "preact/hooks";
import type { TryReply } from "../../../contract/rules.ts";
import { call } from "../../api.ts";
import { ownWords } from "../../details.ts";
import { counted, dateTime, number, unknown } from "../../format.ts";
import { t } from "../../language.ts";
import { Scroll } from "../../parts/scroll.tsx";
import { useSending } from "../../parts/use-form.ts";
import { RigName } from "./runs.tsx";

const dayMs = 86_400_000;
const spans = { day: dayMs, week: 7 * dayMs, month: 31 * dayMs } as const;
type Span = keyof typeof spans;
const spanNames = ["day", "week", "month"] as const satisfies readonly Span[];
/** ms; a month of a large farm takes a while. */
const patienceMs = 120_000;
const shownAtOnce = 100;

/** Tries a rule against the stored history. */
export function Try({ id }: { id: number }) {
  const [span, setSpan] = useState<Span>("day");
  const { busy, problem, send } = useSending();
  const [reply, setReply] = useState<TryReply | null>(null);
  const run = () =>
    send(async () => {
      const to = Date.now();
      const from = to - spans[span];
      setReply(await call("tryRule", { id: String(id), from, to }, { timeoutMs: patienceMs }));
    });
  return (
    <>
      <p class="hint">
        {t.rules.tryText} {t.rules.trySaved}
      </p>
      <div class="row try-row">
        <label class="field try-span">
          <span>{t.rules.trySpan}</span>
          <select
            value={span}
            onChange={({ currentTarget }) => setSpan(spanNames.find((each) => each === currentTarget.value) ?? "day")}
          >
            {spanNames.map((each) => (
              <option key={each} value={each}>
                {t.rules.trySpans[each]}
              </option>
            ))}
          </select>
        </label>
        <button type="button" class="button primary" disabled={busy} onClick={run}>
          {busy ? t.rules.trying : t.rules.tryNow}
        </button>
      </div>
      <p class="field-problem" role="alert">
        {problem}
      </p>
      <div aria-live="polite">{reply === null ? null : <Result reply={reply} />}</div>
    </>
  );
}

function Result({ reply: { firings, miners, guard, where, notes, codedNotes } }: { reply: TryReply }) {
  const [limit, setLimit] = useState(shownAtOnce);
  const rigs = new Set(firings.map(({ minerId }) => minerId)).size;
  return (
    <div class="stack">
      <p class="try-result">
        <strong>
          {firings.length === 0
            ? t.rules.tryNever
            : `${counted(firings.length, t.rules.tryFirings)} ${counted(rigs, t.rules.tryOn)}.`}
        </strong>{" "}
        {counted(miners, t.rules.tryTried)}.
      </p>
      {guard === null ? null : (
        <p>
          {t.rules.tryGuard({ allowed: number(guard.allowed), most: number(guard.most), held: number(guard.held) })}
        </p>
      )}
      {where === null ? null : (
        <p>{t.rules.tryWhere({ yes: number(where.true), no: number(where.false), unknown: number(where.unknown) })}</p>
      )}
      {notes.length === 0 ? null : (
        <div>
          <p>{t.rules.tryMissing}</p>
          <ul>
            {notes.map((note, index) => (
              <li key={note} dir="auto">
                {ownWords(note, codedNotes?.[index])}
              </li>
            ))}
          </ul>
        </div>
      )}
      {firings.length === 0 ? null : (
        <Scroll name={t.rules.parts.try}>
          <table>
            <thead>
              <tr>
                <th scope="col">{t.rules.time}</th>
                <th scope="col">{t.rules.rig}</th>
                <th scope="col">{t.rules.until}</th>
                <th scope="col">{t.rules.result}</th>
              </tr>
            </thead>
            <tbody>
              {firings.slice(0, limit).map(({ minerId, time, clearedAt, limited, guarded }) => (
                <tr key={`${minerId} ${time}`}>
                  <td class="try-time">{dateTime(time)}</td>
                  <td>
                    <RigName id={minerId === 0 ? null : minerId} />
                  </td>
                  <td class="try-time">{clearedAt === null ? unknown : dateTime(clearedAt)}</td>
                  <td>
                    {limited || guarded
                      ? `${t.rules.heldBack} ${guarded ? t.rules.byGuard : t.rules.byLimit}`
                      : t.rules.acts}
                  </td>
                </tr>
              ))}
            </tbody>
          </table>
        </Scroll>
      )}
      {firings.length > limit ? (
        <button type="button" class="button" onClick={() => setLimit(limit + shownAtOnce)}>
          {t.rules.more({ count: number(firings.length - limit) })}
        </button>
      ) : null}
    </div>
  );
}
