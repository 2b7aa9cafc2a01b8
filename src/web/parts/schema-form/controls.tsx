import { useId, useState } from "preact/hooks";
import { t } from "../../language.ts";
import { Icon } from "../icon.tsx";
import { TypedInput } from "../typed-input.tsx";
import "./schema-form.css";
import { useForm } from "./context.ts";
import { durationParts, durationUnits, type Json } from "./schema.ts";

/** Attributes that connect a control with its label, hint and problem. */
export interface ControlAttributes {
  readonly id: string;
  readonly "aria-invalid": boolean;
  readonly "aria-describedby": string;
}

interface ControlProps {
  readonly attributes: ControlAttributes;
  readonly value: Json;
  readonly onValue: (value: Json) => void;
}

/** The number in a text, null if it is empty; other text is kept, and the service refuses it. */
const numberIn = (text: string): number | string | null => {
  const plain = text.trim().replace(",", ".");
  if (plain === "") return null;
  return Number.isFinite(Number(plain)) ? Number(plain) : text;
};

const textOf = (value: Json): string => (value === null || value === undefined ? "" : String(value));

/** Keeps what is being typed, such as "1.", as long as it stands for the value. */
export function NumberInput({ attributes, value, onValue, label }: ControlProps & { label?: string }) {
  const [typed, setTyped] = useState(textOf(value));
  return (
    <input
      {...attributes}
      inputMode="decimal"
      autocomplete="off"
      dir="ltr"
      aria-label={label}
      value={numberIn(typed) === value ? typed : textOf(value)}
      onInput={({ currentTarget }) => {
        setTyped(currentTarget.value);
        onValue(numberIn(currentTarget.value));
      }}
    />
  );
}

export function DurationInput({ attributes, value, onValue }: ControlProps) {
  const parts = durationParts(value);
  const [unit, setUnit] = useState(parts?.unit ?? "m");
  const shownUnit = parts?.unit ?? unit;
  const write = (amount: Json, of: string) =>
    onValue(typeof amount === "number" ? `${amount}${of}` : amount === null ? null : String(amount));
  return (
    <span class="with-unit">
      <NumberInput
        attributes={attributes}
        value={parts === null ? value : parts.amount}
        onValue={(amount) => write(amount, shownUnit)}
      />
      <select
        aria-label={t.form.unit}
        value={shownUnit}
        onChange={({ currentTarget }) => {
          setUnit(currentTarget.value);
          if (parts !== null) write(parts.amount, currentTarget.value);
        }}
      >
        {durationUnits.map((each) => (
          <option key={each} value={each}>
            {t.form.units[each]}
          </option>
        ))}
      </select>
    </span>
  );
}

/** A share like "80%"; where a number is possible, too, its unit is chosen beside it. */
export function ShareInput({
  attributes,
  value,
  onValue,
  unit,
  number,
}: ControlProps & { unit: string | null; number: boolean }) {
  const isShare = typeof value === "string" && value.endsWith("%");
  const [chosen, setChosen] = useState(!number || isShare);
  const asShare = value === null || value === undefined ? chosen : isShare;
  const amount = isShare ? numberIn(value.slice(0, -1)) : value;
  const write = (next: Json, share: boolean) => onValue(typeof next === "number" && share ? `${next}%` : next);
  return (
    <span class="with-unit">
      <NumberInput attributes={attributes} value={amount} onValue={(next) => write(next, asShare)} />
      {number ? (
        <select
          aria-label={t.form.unit}
          value={asShare ? "%" : ""}
          onChange={({ currentTarget }) => {
            const share = currentTarget.value === "%";
            setChosen(share);
            if (amount !== null) write(amount, share);
          }}
        >
          <option value="">{unit ?? t.form.plain}</option>
          <option value="%">%</option>
        </select>
      ) : (
        <span>%</span>
      )}
    </span>
  );
}

/** A text, with what may be entered offered below it. */
export function TextInput({
  attributes,
  value,
  onValue,
  suggestions = [],
}: ControlProps & { suggestions?: readonly string[] }) {
  const list = useId();
  return (
    <>
      <input
        {...attributes}
        autocomplete="off"
        spellcheck={false}
        dir="auto"
        list={suggestions.length === 0 ? undefined : list}
        value={textOf(value)}
        onInput={({ currentTarget }) => onValue(currentTarget.value)}
      />
      {suggestions.length === 0 ? null : (
        <datalist id={list}>
          {suggestions.map((each) => (
            <option key={each} value={each} />
          ))}
        </datalist>
      )}
    </>
  );
}

/** A secret, which no answer of the service contains. */
export const SecretInput = ({ attributes, value, onValue }: ControlProps) => (
  <input
    {...attributes}
    type="password"
    autocomplete="new-password"
    placeholder={useForm().isNew ? undefined : t.form.kept}
    value={textOf(value)}
    onInput={({ currentTarget }) => onValue(currentTarget.value)}
  />
);

const localTime = (value: Json): string => {
  const time = typeof value === "string" ? new Date(value) : null;
  if (time === null || Number.isNaN(time.getTime())) return "";
  return new Date(time.getTime() - time.getTimezoneOffset() * 60_000).toISOString().slice(0, 16);
};

/** A time of the browser's own zone. */
export const TimeInput = ({ attributes, value, onValue }: ControlProps) => (
  <TypedInput
    {...attributes}
    type="datetime-local"
    value={localTime(value)}
    onCommit={(text) => onValue(text === "" ? null : new Date(text).toISOString())}
  />
);

/** A text, number, true or false, by what is written; a text that looks like another is written in quotes. */
const scalarIn = (text: string): Json => {
  const plain = text.trim();
  if (plain === "true" || plain === "false") return plain === "true";
  if (/^".*"$/.test(plain)) return plain.slice(1, -1);
  return numberIn(text) ?? "";
};
const scalarText = (value: Json): string =>
  typeof value === "string" && value !== "" && scalarIn(value) !== value ? `"${value}"` : textOf(value);

/** A value whose type follows from what is written. */
export function ScalarInput({
  attributes,
  value,
  onValue,
  suggestions,
}: ControlProps & { suggestions: readonly string[] }) {
  const [typed, setTyped] = useState(scalarText(value));
  return (
    <TextInput
      attributes={attributes}
      value={scalarIn(typed) === (value ?? "") ? typed : scalarText(value)}
      suggestions={suggestions}
      onValue={(text) => {
        setTyped(String(text));
        onValue(scalarIn(String(text)));
      }}
    />
  );
}

/** Texts, each with a button that removes it. What is being typed is the last of them. */
export function WordsInput({
  attributes,
  value,
  onValue,
  suggestions,
  name,
}: ControlProps & { suggestions: readonly string[]; name: string }) {
  const all = Array.isArray(value) ? value.map(String) : [];
  const [typed, setTyped] = useState("");
  const list = useId();
  const isTyping = typed !== "" && all.at(-1) === typed;
  const words = isTyping ? all.slice(0, -1) : all;
  const left = suggestions.filter((each) => !words.includes(each));
  const type = (text: string) => {
    onValue(text === "" ? words : [...words, text]);
    // A suggestion that was chosen arrives whole.
    setTyped(left.includes(text) ? "" : text);
  };
  const finish = () => {
    onValue([...new Set(all.map((word) => word.trim()))].filter((word) => word !== ""));
    setTyped("");
  };
  return (
    <div class="words">
      {words.length === 0 ? null : (
        <ul>
          {words.map((word) => (
            <li key={word}>
              <bdi>{word}</bdi>
              <button
                type="button"
                class="button quiet small"
                aria-label={t.form.removeWord(word)}
                onClick={() => onValue(all.filter((each) => each !== word))}
              >
                <Icon name="close" />
              </button>
            </li>
          ))}
        </ul>
      )}
      <span class="with-unit">
        <input
          {...attributes}
          autocomplete="off"
          spellcheck={false}
          dir="auto"
          list={left.length === 0 ? undefined : list}
          value={isTyping ? typed : ""}
          onInput={({ currentTarget }) => type(currentTarget.value)}
          onKeyDown={(event) => {
            if (event.key !== "Enter") return;
            event.preventDefault();
            finish();
          }}
        />
        <datalist id={list}>
          {left.map((each) => (
            <option key={each} value={each} />
          ))}
        </datalist>
        <button type="button" class="button" aria-label={t.form.addTo(name)} onClick={finish} disabled={!isTyping}>
          <Icon name="plus" />
        </button>
      </span>
    </div>
  );
}
