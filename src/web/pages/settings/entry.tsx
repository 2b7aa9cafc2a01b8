import type { ComponentChildren } from "preact";
import { t } from "../../language.ts";

/** What a list is for, and beside it the button that adds to it. */
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
  /** Below both. */
  readonly children?: ComponentChildren;
}

/** One of a list: its name, what matters of it, and what can be done with it. */
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

/** That something can be changed only in the configuration file. */
export const FromFile = ({ owner }: { owner: "file" | "store" | "default" | undefined }) =>
  owner === "file" ? (
    <span class="tag" title={t.settings.fromFileHint}>
      {t.settings.fromFile}
    </span>
  ) : null;
