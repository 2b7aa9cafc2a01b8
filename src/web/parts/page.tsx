import type { ComponentChildren } from "preact";
import { useEffect } from "preact/hooks";

/** Sets the title of the browser's tab, followed by "Rigbridge". */
export function usePageTitle(title: string): void {
  useEffect(() => {
    document.title = `${title} · Rigbridge`;
  }, [title]);
}

interface PageProps {
  readonly title: string;
  /** Beside the title: a name with hostile text is isolated by the caller. */
  readonly lead?: ComponentChildren;
  readonly actions?: ComponentChildren;
  /** Limits the width, for forms and lists. */
  readonly limited?: boolean;
  readonly children: ComponentChildren;
}

/** A page: its heading, its actions beside it, and its content. */
export function Page({ title, lead, actions, limited = false, children }: PageProps) {
  usePageTitle(title);
  return (
    <article class={limited ? "page limited" : "page"}>
      <header class="page-head">
        <div>
          <h1>
            <bdi>{title}</bdi>
          </h1>
          {lead === undefined || lead === null ? null : <p class="lead">{lead}</p>}
        </div>
        {actions === undefined ? null : <div class="page-actions">{actions}</div>}
      </header>
      {children}
    </article>
  );
}

/** A part of a page with its own heading. */
export const Card = ({
  title,
  actions,
  children,
  wide = false,
}: {
  title?: ComponentChildren;
  actions?: ComponentChildren;
  children: ComponentChildren;
  wide?: boolean;
}) => (
  <section class={wide ? "card wide" : "card"}>
    {title === undefined ? null : (
      <header class="card-head">
        <h2>{title}</h2>
        {actions}
      </header>
    )}
    {children}
  </section>
);

/** A figure with its name, for the tiles of the overview and of a rig. `note`: its age or a comparison. */
export const Tile = ({
  name,
  value,
  note,
  tone,
}: {
  name: string;
  value: ComponentChildren;
  note?: ComponentChildren;
  tone?: "good" | "warning" | "bad";
}) => (
  <div class={`tile ${tone ?? ""}`}>
    <dt>{withWhole(name)}</dt>
    <dd>
      <span class="tile-value">{value}</span>
      {note === undefined || note === null ? null : <span class="tile-note">{note}</span>}
    </dd>
  </div>
);

/** Keeps names like SHA-256 on one line. */
const withWhole = (text: string): ComponentChildren =>
  text.split(/(\w{1,8}-\d{1,4})/).map((part, index) => (index % 2 === 0 ? part : <span class="whole">{part}</span>));

export const Tiles = ({ children }: { children: ComponentChildren }) => <dl class="tiles">{children}</dl>;
