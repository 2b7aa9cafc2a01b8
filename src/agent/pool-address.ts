/** The parts of a pool's address. */
export interface PoolAddress {
  /** As written; empty if missing. */
  readonly scheme: string;
  /** IPv6 in brackets. */
  readonly host: string;
  readonly port: number;
  readonly tls: boolean;
  /** Whether the scheme only chooses TLS or not; programs have their own schemes for that. */
  readonly ordinary: boolean;
}

/** Null if it is not a pool address. */
export function poolAddress(url: string): PoolAddress | null {
  const match =
    /^(?:([a-z0-9]+(?:\+[a-z0-9]+)?):\/\/)?(\[[0-9a-f:.]+\]|[a-z0-9_](?:[a-z0-9._-]*[a-z0-9_])?):([0-9]{1,5})\/?$/i.exec(
      url,
    );
  const [, written = "", host = "", digits = ""] = match ?? [];
  const scheme = written.toLowerCase();
  const port = Number(digits);
  if (match === null || url.length > 255 || port < 1 || port > 65_535) return null;
  return {
    scheme,
    host,
    port,
    tls: /(?:^|\+)(?:ssl|tls|tls12|tcps|stratums|https)$/.test(scheme),
    ordinary: /^(?:(?:stratum\+)?(?:tcp|ssl|tls|tcps)|stratums?|)$/.test(scheme),
  };
}
