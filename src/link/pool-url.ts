/** host:port of a pool URL, with or without its scheme, in lower case. */
export const hostAndPortOf = (url: string): string => partsOf(url).hostAndPort;

export const hostOf = (url: string): string => partsOf(url).host;

interface Parts {
  readonly host: string;
  readonly hostAndPort: string;
}

/** A farm mines at a handful of pools, and each of its rigs names them with every read. */
const known = new Map<string, Parts>();
const knownLimit = 10_000;

function partsOf(url: string): Parts {
  const found = known.get(url);
  if (found !== undefined) return found;
  const hostAndPort = url
    .replace(/^[a-z0-9+]+:\/\//i, "")
    .replace(/\/.*$/, "")
    .toLowerCase();
  const parts = { host: hostAndPort.replace(/:\d+$/, ""), hostAndPort };
  if (known.size >= knownLimit) known.clear();
  known.set(url, parts);
  return parts;
}
