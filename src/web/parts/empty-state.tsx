import type { ComponentChildren } from "preact";
import type { Known } from "./load.tsx";
import { Notice, type NoticeProps } from "./notice.tsx";

interface WithKnown {
  /** Proves that the service has answered, so that "none" is true. */
  readonly known: Known;
}

/** Replaces an empty list or a missing thing: states the fact, and what to do. */
export const EmptyState = ({ known: _, ...notice }: NoticeProps & WithKnown) => <Notice {...notice} />;

/** Like `EmptyState`, as a line in a card or a dialog. */
export const None = ({ known: _, children }: WithKnown & { readonly children: ComponentChildren }) => (
  <p class="hint">{children}</p>
);
