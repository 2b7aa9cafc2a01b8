import { t } from "../../../language.ts";
import { Icon } from "../../icon.tsx";

interface ChipsProps {
  readonly words: readonly string[];
  /** What people call each; undefined if there is no such thing. */
  readonly nameOf: (word: string) => string | undefined;
  readonly onRemove: (word: string) => void;
}

/** Words, each with a button that removes it. */
export function Chips({ words, nameOf, onRemove }: ChipsProps) {
  if (words.length === 0) return null;
  return (
    <ul>
      {words.map((word) => {
        const name = nameOf(word);
        return (
          <li key={word} class={name === undefined ? "missing" : undefined}>
            {name === undefined ? <Icon name="warning" /> : null}
            <bdi>{name ?? t.form.isMissing({ name: word })}</bdi>
            <button
              type="button"
              class="button quiet small"
              aria-label={t.form.removeWord({ word: name ?? word })}
              onClick={() => onRemove(word)}
            >
              <Icon name="close" />
            </button>
          </li>
        );
      })}
    </ul>
  );
}
