import { useLocation, useRoute } from "preact-iso";

/** The query of the address: the state worth keeping or sending to a colleague. */
export interface PageQuery {
  /** "" if absent. */
  readonly get: (name: string) => string;
  /** The address of this page with these changes; an empty text removes the field. */
  readonly hrefWith: (changes: Readonly<Record<string, string>>) => string;
  /** Changes the address without a new entry in the browser's history. */
  readonly set: (changes: Readonly<Record<string, string>>) => void;
}

export function usePageQuery(): PageQuery {
  const { route } = useLocation();
  // From this page: the location is that of the next page while its script is loading.
  const { path, query } = useRoute();
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
