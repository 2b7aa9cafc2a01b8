import { useRef, useState } from "preact/hooks";
import { t } from "../../language.ts";
import { Field } from "../../parts/field.tsx";

export interface PaceValue {
  /** Rigs at once. */
  readonly parallel: number;
  /** s between two starts. */
  readonly delay: number;
}

interface PaceProps {
  readonly value: PaceValue;
  readonly change: (part: Partial<PaceValue>) => void;
}

/** How quickly the rigs follow one another. */
export const Pace = ({ value, change }: PaceProps) => (
  <details class="pace">
    <summary>{t.rigs.pace}</summary>
    <p class="hint">{t.rigs.paceHint}</p>
    <div class="range">
      <NumberField
        {...{ label: t.rigs.parallel, min: 1, max: 256, step: 1, value: value.parallel }}
        onNumber={(parallel) => change({ parallel })}
      />
      <NumberField
        {...{ label: t.rigs.delay, min: 0, max: 3600, step: "any", value: value.delay }}
        onNumber={(delay) => change({ delay })}
      />
    </div>
  </details>
);

interface NumberFieldProps {
  readonly label: string;
  readonly min: number;
  readonly max: number;
  readonly step: number | "any";
  readonly value: number;
  readonly onNumber: (value: number) => void;
}

/** Keeps what is typed: the other field's change draws this one again while somebody types in it. */
function NumberField({ label, min, max, step, value, onNumber }: NumberFieldProps) {
  const [text, setText] = useState(String(value));
  const valid = useRef(value);
  const take = (typed: string): void => {
    setText(typed);
    const number = Number(typed);
    if (typed.trim() === "" || !Number.isFinite(number)) return;
    const inRange = Math.max(min, Math.min(max, number));
    valid.current = step === 1 ? Math.round(inRange) : inRange;
    onNumber(valid.current);
  };
  return (
    <Field label={label}>
      {(control) => (
        <input
          {...control}
          type="number"
          {...{ min, max, step, value: text }}
          onInput={({ currentTarget }) => take(currentTarget.value)}
          onBlur={() => setText(String(valid.current))}
        />
      )}
    </Field>
  );
}
