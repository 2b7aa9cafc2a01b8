import type { ComponentChildren } from "preact";
import type { Known } from "./load.tsx";
import { Notice, type NoticeProps } from "./notice.tsx";

interface WithKnown {
  /** Who says that there is nothing shows that the service has answered. */
  readonly known: Known;
}

/** In the place of a list that has nothing to show, or of a thing that is not there: what is so, and what to do. */
export const EmptyState = ({ known: _, ...notice }: NoticeProps & WithKnown) => <Notice {...notice} />;

/** The same as a line in a card or a dialog. */
export const None = ({ known: _, children }: WithKnown & { readonly children: ComponentChildren }) => (
  <p class="hint">{children}</p>
);
