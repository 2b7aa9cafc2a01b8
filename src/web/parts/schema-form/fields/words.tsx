import { useId, useState } from "preact/hooks";
import { t } from "../../../language.ts";
import { Icon } from "../../icon.tsx";
import { Chips } from "./chips.tsx";
import type { ControlProps } from "./control.ts";

/** Texts, each with a button that removes it. The last one is being typed. */
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
    // A chosen suggestion arrives whole.
    setTyped(left.includes(text) ? "" : text);
  };
  const finish = () => {
    onValue([...new Set(all.map((word) => word.trim()))].filter((word) => word !== ""));
    setTyped("");
  };
  return (
    <div class="words">
      <Chips words={words} nameOf={(word) => word} onRemove={(word) => onValue(all.filter((each) => each !== word))} />
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
        <button type="button" class="button" aria-label={t.form.addTo({ name })} onClick={finish} disabled={!isTyping}>
          <Icon name="plus" />
        </button>
      </span>
    </div>
  );
}
