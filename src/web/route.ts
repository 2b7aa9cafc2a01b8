/** The path of the dashboard's own address, with a slash at its end: "/", or "/a/b/" below a reverse proxy. */
export const base = new URL(".", document.baseURI).pathname;

/** The address of a page: `link("rigs/12")`. */
export const link = (path: string): string => base + path;

/** Whether the browser opened the dashboard itself, not one of its pages. */
export const beganAtStart = location.pathname === base;
