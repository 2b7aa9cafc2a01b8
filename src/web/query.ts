import { useLocation } from "preact-iso";

/** The query of the address: what a person would keep or send to a colleague. */
export interface PageQuery {
  /** "" if it is absent. */
  readonly get: (name: string) => string;
  /** The address of this page with these changes; an empty text removes the field. */
  readonly hrefWith: (changes: Readonly<Record<string, string>>) => string;
  /** Changes the address without a new entry in the browser's history. */
  readonly set: (changes: Readonly<Record<string, string>>) => void;
}

export function usePageQuery(): PageQuery {
  const { path, query, route } = useLocation();
  const hrefWith = (changes: Readonly<Record<string, string>>): string => {
    const search = new URLSearchParams();
    for (const [name, value] of Object.entries({ ...query, ...changes })) if (value !== "") search.set(name, value);
    return search.size === 0 ? path : `${path}?${search}`;
  };
  return {
    get: (name) => query[name] ?? "",
    hrefWith,
    set: (changes) => route(hrefWith(changes), true),
  };
}
