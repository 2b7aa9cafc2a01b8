/** The path of the dashboard's own address, with a trailing slash: "/", or "/a/b/" behind a reverse proxy. */
export const base = new URL(".", document.baseURI).pathname;

/** The address of a page: `link("rigs/12")`. */
export const link = (path: string): string => base + path;

/** Whether the browser opened the dashboard's root, not one of its pages. */
export const beganAtStart = location.pathname === base;

type BackListener = (event: PopStateEvent) => void;
let backListener: BackListener | null = null;

/** Calls the listener when the browser goes back, before the router does. Returns a function that ends it. */
export function interceptBack(listener: BackListener): () => void {
  backListener = listener;
  return () => {
    if (backListener === listener) backListener = null;
  };
}

// The window calls listeners in order of registration, and this one is registered before the router's.
addEventListener("popstate", (event) => backListener?.(event));
