import { useState } from "preact/hooks";
import { t } from "../../../language.ts";
import { Icon } from "../../icon.tsx";
import type { Directory } from "../context.ts";
import { Combobox } from "./combobox.tsx";
import { type ControlProps, textOf } from "./control.ts";

/** Something that exists, chosen by its name. What does not exist stays, and is said to be missing. */
export function NameInput({ attributes, value, onValue, directory }: ControlProps & { directory: Directory }) {
  const [typed, setTyped] = useState<string | null>(null);
  const text = textOf(value);
  const name = text === "" ? "" : directory.nameOf(text);
  const isMissing = name === undefined && typed === null;
  const note = `${attributes.id}-missing`;
  return (
    <>
      <Combobox
        attributes={{ ...attributes, "aria-describedby": `${attributes["aria-describedby"]} ${note}` }}
        text={typed ?? name ?? text}
        choices={directory.choices}
        onType={(next, named) => {
          setTyped(next);
          onValue(named);
        }}
        onChoose={(next) => {
          setTyped(null);
          onValue(next);
        }}
        onBlur={() => setTyped(null)}
      />
      <span id={note} class="missing">
        {isMissing ? (
          <>
            <Icon name="warning" /> {t.form.missing({ name: text })}
          </>
        ) : null}
      </span>
    </>
  );
}
