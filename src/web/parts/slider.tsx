import { useEffect, useRef, useState } from "preact/hooks";
import { number } from "../format.ts";
import { t } from "../language.ts";
import "./slider.css";
import { nearestIndex, snap, typedNumber } from "./snap.ts";

export interface Mark {
  readonly value: number;
  readonly label: string;
}

interface SliderProps {
  /** Its name for screen readers. */
  readonly label: string;
  /** Null: unknown; the handle then stands at the beginning, and the number is empty. */
  readonly value: number | null;
  readonly min: number;
  readonly max: number;
  readonly step?: number;
  readonly unit?: string;
  /** Formats a value; default: the number with its unit. */
  readonly format?: (value: number) => string;
  readonly marks?: readonly Mark[];
  /** Only the marks can be chosen. */
  readonly marksOnly?: boolean;
  readonly disabled?: boolean;
  readonly describedBy?: string;
  /** Called with the value during a move; null at its end. */
  readonly onMove?: (value: number | null) => void;
  /** Called once per change: when the handle is released, or after the last key. */
  readonly onCommit: (value: number) => void;
}

/** ms without a key after which a value moved by keys counts as chosen. */
const keysRestMs = 800;

/** Separates the parts of a mark's label; each part gets its own line. */
const between = " · ";

/**
 * A slider with a number beside it. Sends nothing during a move: a pointer commits on release, keys after a pause or
 * when the focus leaves.
 */
export function Slider(props: SliderProps) {
  const { label, value, min, max, step = 1, unit = "", marks = [], marksOnly = false, disabled = false } = props;
  const format = props.format ?? ((each: number) => `${number(each, 3)} ${unit}`.trim());
  const [draft, setDraft] = useState<number | null>(null);
  const byKeys = useRef(false);
  const resting = useRef<ReturnType<typeof setTimeout> | undefined>(undefined);
  const moved = useRef<number | null>(null);
  const onCommit = useRef(props.onCommit);
  onCommit.current = props.onCommit;

  const values = [...marks].sort((one, other) => one.value - other.value);
  // Labels of more values would overlap.
  const areNamed = values.length <= 5;
  const hasLines = areNamed && values.some((mark) => mark.label.includes(between));
  const shown = draft ?? value;
  const scale = marksOnly ? { min: 0, max: Math.max(0, values.length - 1), step: 1 } : { min, max, step };
  const positionOf = (each: number) =>
    marksOnly
      ? nearestIndex(
          values.map((mark) => mark.value),
          each,
        )
      : each;
  const valueAt = (position: number) => (marksOnly ? (values[position]?.value ?? min) : snap(position, scale));
  const labelOf = (each: number) => values.find((mark) => mark.value === each)?.label;

  const move = (next: number | null) => {
    moved.current = next;
    setDraft(next);
    props.onMove?.(next);
  };
  const commit = () => {
    clearTimeout(resting.current);
    const chosen = moved.current;
    if (chosen === null) return;
    move(null);
    if (chosen !== value) onCommit.current(chosen);
  };
  useEffect(() => () => clearTimeout(resting.current), []);
  const span = scale.max - scale.min;
  const partOf = (each: number) => (span === 0 ? 0 : (positionOf(each) - scale.min) / span);

  return (
    <div class={`slider ${shown === null ? "unknown" : ""}`}>
      <div class="slider-track">
        <input
          type="range"
          aria-label={label}
          aria-valuetext={shown === null ? t.shell.unknown : (labelOf(shown) ?? format(shown))}
          aria-describedby={props.describedBy}
          {...scale}
          value={shown === null ? scale.min : positionOf(shown)}
          disabled={disabled}
          onPointerDown={() => {
            byKeys.current = false;
          }}
          onKeyDown={() => {
            byKeys.current = true;
          }}
          onInput={({ currentTarget }) => {
            clearTimeout(resting.current);
            move(valueAt(Number(currentTarget.value)));
          }}
          onChange={() => {
            if (byKeys.current) resting.current = setTimeout(commit, keysRestMs);
            else commit();
          }}
          onBlur={commit}
        />
        {values.length === 0 ? null : (
          <ol class={`slider-marks ${hasLines ? "two-line" : ""}`} aria-hidden="true">
            {values.map((mark) => (
              <li
                key={mark.value}
                class={mark.value === shown ? "chosen" : ""}
                style={{ insetInlineStart: `calc(0.5rem + (100% - 1rem) * ${partOf(mark.value)})` }}
              >
                {areNamed ? mark.label.split(between).map((line) => <span key={line}>{line}</span>) : null}
              </li>
            ))}
          </ol>
        )}
      </div>
      {marksOnly ? (
        <output class="slider-value">{shown === null ? "–" : (labelOf(shown) ?? format(shown))}</output>
      ) : (
        <NumberEntry
          label={label}
          unit={unit}
          disabled={disabled}
          scale={scale}
          value={shown}
          onCommit={(each) => onCommit.current(each)}
        />
      )}
    </div>
  );
}

interface NumberEntryProps {
  readonly label: string;
  readonly unit: string;
  readonly disabled: boolean;
  readonly scale: { readonly min: number; readonly max: number; readonly step: number };
  readonly value: number | null;
  readonly onCommit: (value: number) => void;
}

/** The exact number: Enter or leaving the field commits it; an invalid number is reverted. */
function NumberEntry({ label, unit, disabled, scale, value, onCommit }: NumberEntryProps) {
  const [text, setText] = useState<string | null>(null);
  const commit = () => {
    if (text === null) return;
    const typed = typedNumber(text);
    setText(null);
    const chosen = typed === null ? null : snap(typed, scale);
    if (chosen !== null && chosen !== value) onCommit(chosen);
  };
  return (
    <span class="slider-number">
      <input
        type="text"
        inputmode="decimal"
        aria-label={unit === "" ? label : `${label} (${unit})`}
        value={text ?? (value === null ? "" : String(value))}
        placeholder="–"
        disabled={disabled}
        maxLength={12}
        onInput={({ currentTarget }) => setText(currentTarget.value)}
        onBlur={commit}
        onKeyDown={(event) => {
          if (event.key === "Enter") commit();
          if (event.key === "Escape") setText(null);
        }}
      />
      <span aria-hidden="true" dir="ltr">
        {unit}
      </span>
    </span>
  );
}
