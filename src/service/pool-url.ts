/** host:port of a pool URL, with or without its scheme, in lower case. */
export const hostAndPortOf = (url: string): string =>
  url
    .replace(/^[a-z0-9+]+:\/\//i, "")
    .replace(/\/.*$/, "")
    .toLowerCase();

export const hostOf = (url: string): string => hostAndPortOf(url).replace(/:\d+$/, "");
