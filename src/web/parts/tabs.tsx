import { useCurrentInView } from "./in-view.ts";
import "./tabs.css";

export interface Tab {
  readonly key: string;
  readonly label: string;
  /** A number beside it, such as open alarms. */
  readonly count?: number;
}

interface TabsProps {
  /** The name of the whole set, for screen readers. */
  readonly name: string;
  readonly tabs: readonly Tab[];
  readonly chosen: string;
  readonly hrefOf: (key: string) => string;
}

/** The sections of a page, as links: each has its own address. */
export function Tabs({ name, tabs, chosen, hrefOf }: TabsProps) {
  return (
    <nav ref={useCurrentInView<HTMLElement>(chosen)} class="tabs" aria-label={name}>
      {tabs.map(({ key, label, count }) => (
        <a key={key} href={hrefOf(key)} aria-current={key === chosen ? "page" : undefined}>
          {label}
          {count === undefined || count === 0 ? null : <span class="tab-count">{count}</span>}
        </a>
      ))}
    </nav>
  );
}
