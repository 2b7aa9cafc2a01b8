import { t } from "../../language.ts";
import { Field } from "../../parts/field.tsx";
import { TypedInput } from "../../parts/typed-input.tsx";

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

const within = (text: string, min: number, max: number, before: number): number => {
  const value = Number(text);
  return text.trim() === "" || !Number.isFinite(value) ? before : Math.max(min, Math.min(max, value));
};

/** How quickly the rigs follow one another. */
export const Pace = ({ value, change }: PaceProps) => (
  <details class="pace">
    <summary>{t.rigs.pace}</summary>
    <p class="hint">{t.rigs.paceHint}</p>
    <div class="range">
      <Field label={t.rigs.parallel}>
        {(control) => (
          <TypedInput
            {...control}
            type="number"
            min={1}
            max={256}
            step={1}
            value={String(value.parallel)}
            onCommit={(text) => change({ parallel: Math.round(within(text, 1, 256, value.parallel)) })}
          />
        )}
      </Field>
      <Field label={t.rigs.delay}>
        {(control) => (
          <TypedInput
            {...control}
            type="number"
            min={0}
            max={3600}
            step="any"
            value={String(value.delay)}
            onCommit={(text) => change({ delay: within(text, 0, 3600, value.delay) })}
          />
        )}
      </Field>
    </div>
  </details>
);
