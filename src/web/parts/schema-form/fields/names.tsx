import { useState } from "preact/hooks";
import type { Directory } from "../context.ts";
import type { Json } from "../schema.ts";
import { Chips } from "./chips.tsx";
import { Combobox } from "./combobox.tsx";
import type { ControlProps } from "./control.ts";

/** Things that exist, chosen by their names. Those that do not exist stay, and are said to be missing. */
export function NamesInput({ attributes, value, onValue, directory }: ControlProps & { directory: Directory }) {
  const all: readonly Json[] = Array.isArray(value) ? value : value === undefined || value === null ? [] : [value];
  /** What is being typed is the last of them, so that nothing is lost where the form is saved then. */
  const [typed, setTyped] = useState("");
  const chosen = typed === "" ? all : all.slice(0, -1);
  return (
    <div class="words">
      <Chips
        words={chosen.map(String)}
        nameOf={directory.nameOf}
        onRemove={(word) => onValue(all.filter((each) => String(each) !== word))}
      />
      <Combobox
        attributes={attributes}
        text={typed}
        choices={() => directory.choices().filter((each) => !chosen.includes(each.value))}
        onType={(text, named) => {
          setTyped(text);
          onValue(text === "" ? chosen : [...chosen, named]);
        }}
        onChoose={(next) => {
          setTyped("");
          onValue([...chosen, next]);
        }}
        onFocus={() => setTyped("")}
      />
    </div>
  );
}
