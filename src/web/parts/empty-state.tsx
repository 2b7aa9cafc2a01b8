import type { ComponentChildren } from "preact";
import { Icon, type IconName } from "./icon.tsx";

interface EmptyStateProps {
  readonly icon: IconName;
  readonly title: string;
  readonly text?: string;
  readonly heading?: "h1" | "h2";
  /** What to do next. */
  readonly children?: ComponentChildren;
}

/** In the place of a list that has nothing to show, or of a page that cannot be shown: what is so, and what to do. */
export const EmptyState = ({ icon, title, text, heading: Heading = "h2", children }: EmptyStateProps) => (
  <div class="empty">
    <Icon name={icon} />
    <Heading>{title}</Heading>
    {text === undefined ? null : <p>{text}</p>}
    {children}
  </div>
);
