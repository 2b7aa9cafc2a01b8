/** The path of the dashboard's own address, with a slash at its end: "/", or "/a/b/" below a reverse proxy. */
export const base = new URL(".", document.baseURI).pathname;

/** The address of a page: `link("rigs/12")`. */
export const link = (path: string): string => base + path;

/** Whether the browser opened the dashboard itself, not one of its pages. */
export const beganAtStart = location.pathname === base;

type BackListener = (event: PopStateEvent) => void;
let backListener: BackListener | null = null;

/** Calls it when the browser goes back, before the router hears of that. Returns what ends this. */
export function interceptBack(listener: BackListener): () => void {
  backListener = listener;
  return () => {
    if (backListener === listener) backListener = null;
  };
}

// The window calls its listeners in the order in which they came, and this one comes before the router's.
addEventListener("popstate", (event) => backListener?.(event));
