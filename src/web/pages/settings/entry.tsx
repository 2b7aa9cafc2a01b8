import type { ComponentChildren } from "preact";
import { t } from "../../language.ts";

/** The purpose of a list, and the button that adds to it. */
export const ListHead = ({ text, children }: { text: string; children?: ComponentChildren }) => (
  <header class="list-head">
    <p class="hint">{text}</p>
    {children}
  </header>
);

interface EntryProps {
  readonly name: string;
  readonly tags?: ComponentChildren;
  readonly facts: readonly ComponentChildren[];
  readonly actions?: ComponentChildren;
  /** Shown below both. */
  readonly children?: ComponentChildren;
}

/** An entry of a list: its name, main facts, and actions. */
export const Entry = ({ name, tags, facts, actions, children }: EntryProps) => (
  <li class="entry">
    <div class="entry-main">
      <p class="entry-head">
        <strong>
          <bdi>{name}</bdi>
        </strong>
        {tags}
      </p>
      <ul class="entry-facts">{facts.map((fact, index) => (fact === null ? null : <li key={index}>{fact}</li>))}</ul>
    </div>
    <div class="entry-actions">{actions}</div>
    {children}
  </li>
);

/** Says that it can be changed only in the configuration file. */
export const FromFile = ({ owner }: { owner: "file" | "store" | "default" | undefined }) =>
  owner === "file" ? (
    <span class="tag" title={t.settings.fromFileHint}>
      {t.settings.fromFile}
    </span>
  ) : null;
