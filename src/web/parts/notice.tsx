import type { ComponentChildren } from "preact";
import { Icon, type IconName } from "./icon.tsx";

export interface NoticeProps {
  readonly icon: IconName;
  readonly title: string;
  readonly text?: string;
  readonly heading?: "h1" | "h2";
  /** What to do next. */
  readonly children?: ComponentChildren;
}

/** Replaces content that cannot be shown: the reason, and what to do. Use `EmptyState` for an empty list. */
export const Notice = ({ icon, title, text, heading: Heading = "h2", children }: NoticeProps) => (
  <div class="empty">
    <Icon name={icon} />
    <Heading>{title}</Heading>
    {text === undefined ? null : <p>{text}</p>}
    {children}
  </div>
);
