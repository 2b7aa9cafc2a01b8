import { useState } from "preact/hooks";
import { locale, t } from "../../language.ts";
import { Field } from "../../parts/field.tsx";
import type { PageQuery } from "../../query.ts";
import { isDate, monthAt, spanNames, spanOf } from "./covered.ts";

/** Calendar months to choose from, the present one first. */
const mostMonths = 24;

/** A number of days, a calendar month, or any dates. */
export function SpanChoice({ query }: { query: PageQuery }) {
  const { get, set, hrefWith } = query;
  const [from, to] = [get("from"), get("to")];
  const isOwn = from !== "" && to !== "";
  const months = Array.from({ length: mostMonths }, (_, back) => monthAt(Date.now(), back));
  const month = months.find((each) => each.from === from && each.to === to);
  const name = new Intl.DateTimeFormat(locale, { month: "long", year: "numeric", timeZone: "UTC" });
  return (
    <>
      <nav class="row" aria-label={t.chart.period}>
        {spanNames.map((each) => (
          <a
            key={each}
            class="button small"
            href={hrefWith({ span: each, from: "", to: "" })}
            aria-current={!isOwn && each === spanOf(query) ? "true" : undefined}
          >
            {t.money.spans[each]}
          </a>
        ))}
        <select
          aria-label={t.money.month}
          value={month?.from ?? ""}
          onChange={({ currentTarget }) => {
            const chosen = months.find((each) => each.from === currentTarget.value);
            if (chosen !== undefined) set({ span: "", ...chosen });
          }}
        >
          <option value="" disabled>
            {t.money.month}
          </option>
          {months.map((each) => (
            <option key={each.from} value={each.from}>
              {name.format(Date.parse(each.from))}
            </option>
          ))}
        </select>
      </nav>
      <Dates key={`${from} ${to}`} from={from} to={to} onDates={(dates) => set({ span: "", ...dates })} />
    </>
  );
}

interface DatesProps {
  readonly from: string;
  readonly to: string;
  readonly onDates: (dates: { from: string; to: string }) => void;
}

function Dates({ from, to, onDates }: DatesProps) {
  const [first, setFirst] = useState(from);
  const [last, setLast] = useState(to);
  const isWrong = first !== "" && last !== "" && first > last;
  return (
    <details open={from !== "" && to !== ""}>
      <summary>{t.rig.ownPeriod}</summary>
      <form
        class="row"
        onSubmit={(event) => {
          event.preventDefault();
          if (isDate(first) && isDate(last) && !isWrong) onDates({ from: first, to: last });
        }}
      >
        <DateField
          label={t.rig.from}
          problem={isWrong ? t.money.datesWrong : undefined}
          value={first}
          onValue={setFirst}
        />
        <DateField label={t.rig.to} value={last} onValue={setLast} />
        <button type="submit" class="button small">
          {t.rig.show}
        </button>
      </form>
    </details>
  );
}

interface DateFieldProps {
  readonly label: string;
  readonly problem?: string | undefined;
  readonly value: string;
  readonly onValue: (value: string) => void;
}

const DateField = ({ label, problem, value, onValue }: DateFieldProps) => (
  <Field label={label} problem={problem}>
    {(attributes) => (
      <input
        {...attributes}
        type="date"
        required
        value={value}
        onInput={({ currentTarget }) => onValue(currentTarget.value)}
      />
    )}
  </Field>
);
