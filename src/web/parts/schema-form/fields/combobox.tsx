import { useEffect, useId, useState } from "preact/hooks";
import { byName, number } from "../../../format.ts";
import { t } from "../../../language.ts";
import type { Choice } from "../context.ts";
import type { ControlAttributes } from "./control.ts";

/** Choices that the list shows at once; typing finds the others. */
const mostShown = 50;

/** The first choices whose names contain a text, and how many more there are. */
export function matching(
  choices: readonly Choice[],
  text: string,
): { readonly shown: readonly Choice[]; readonly more: number } {
  const wanted = text.trim().toLowerCase();
  const found = choices.filter(({ name }) => name.toLowerCase().includes(wanted));
  const shown = found.slice(0, mostShown).sort((one, other) => byName(one.name, other.name));
  return { shown, more: found.length - shown.length };
}

interface ComboboxProps {
  readonly attributes: ControlAttributes;
  /** What stands in the field. */
  readonly text: string;
  readonly choices: () => readonly Choice[];
  /** Takes each text that is typed, and the value of that name; the text itself where there is no such name. */
  readonly onType: (text: string, value: Choice["value"]) => void;
  readonly onChoose: (value: Choice["value"]) => void;
  readonly onFocus?: () => void;
  readonly onBlur?: () => void;
}

/** A field in which typing searches names, one of which is chosen: the combobox of the ARIA practices. */
export function Combobox({ attributes, text, choices, onType, onChoose, onFocus, onBlur }: ComboboxProps) {
  const [isOpen, setOpen] = useState(false);
  /** What has been typed since the list was opened. */
  const [typed, setTyped] = useState("");
  const [active, setActive] = useState(-1);
  const list = useId();
  const { shown, more } = isOpen ? matching(choices(), typed) : { shown: [], more: 0 };
  const idOf = (index: number) => `${list}-${index}`;
  useEffect(() => document.getElementById(idOf(active))?.scrollIntoView({ block: "nearest" }), [active]);
  const open = (at: number) => {
    setOpen(true);
    setActive(at);
  };
  const close = () => {
    setOpen(false);
    setTyped("");
    setActive(-1);
  };
  const choose = (choice: Choice | undefined) => {
    if (choice !== undefined) onChoose(choice.value);
    close();
  };
  const onKeyDown = (event: KeyboardEvent) => {
    const step = event.key === "ArrowDown" ? 1 : event.key === "ArrowUp" ? -1 : 0;
    if (step !== 0) open(isOpen ? (active + step + shown.length) % Math.max(1, shown.length) : 0);
    else if (event.key === "Enter" && isOpen) choose(shown[active]);
    else if (event.key === "Escape" && isOpen) close();
    else return;
    // Neither submits the form nor closes the dialog around it.
    event.preventDefault();
  };
  return (
    <span class="combobox">
      <input
        {...attributes}
        role="combobox"
        aria-autocomplete="list"
        aria-expanded={isOpen}
        aria-controls={list}
        aria-activedescendant={shown[active] === undefined ? undefined : idOf(active)}
        autocomplete="off"
        spellcheck={false}
        dir="auto"
        placeholder={t.form.search}
        value={text}
        onFocus={({ currentTarget }) => {
          currentTarget.select();
          onFocus?.();
        }}
        onClick={() => (isOpen ? undefined : open(-1))}
        onInput={({ currentTarget: { value } }) => {
          setTyped(value);
          open(0);
          const named = choices().find(({ name }) => name.toLowerCase() === value.trim().toLowerCase());
          onType(value, named?.value ?? value.trim());
        }}
        onKeyDown={onKeyDown}
        onBlur={() => {
          close();
          onBlur?.();
        }}
      />
      <span class="combobox-list" hidden={!isOpen}>
        {/* Pressing a choice does not take the focus, which would end the choosing. */}
        <span
          role="listbox"
          tabIndex={-1}
          id={list}
          aria-label={t.form.choices}
          hidden={shown.length === 0}
          onMouseDown={(event) => event.preventDefault()}
        >
          {shown.map((choice, index) => (
            <button
              type="button"
              key={choice.value}
              role="option"
              id={idOf(index)}
              tabIndex={-1}
              dir="auto"
              aria-selected={index === active}
              onClick={() => choose(choice)}
            >
              {choice.name}
            </button>
          ))}
        </span>
        <span class="hint" role="status">
          {isOpen && shown.length === 0
            ? t.form.nothingFound
            : more > 0
              ? t.form.moreFound({ count: number(more) })
              : ""}
        </span>
      </span>
    </span>
  );
}
