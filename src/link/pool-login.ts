import { isIPv6 } from "node:net";
import { type Mistake, mistake, RigbridgeError } from "../contract/problems.ts";
import { detail } from "../messages/detail.ts";
import type { PoolLogin } from "./driver.ts";
import { hostAndPortOf } from "./pool-url.ts";

/** The parts of a pool's URL. `tls`: the scheme requires it. */
export interface PoolUrl {
  readonly scheme: string;
  /** IPv6 in brackets. */
  readonly host: string;
  readonly port: number;
  readonly tls: boolean;
}

/**
 * Checks a login before it is sent: devices take a comma, a pipe or a line end for their own syntax.
 * Throws `input.invalid` with every mistake.
 */
export function checkLogin({ url, worker, password }: PoolLogin): PoolUrl {
  const parsed = parsePoolUrl(url);
  const mistakes: Mistake[] = [];
  if (parsed === null) {
    mistakes.push(mistake("url", detail("address.pool")));
  }
  if (worker === "") mistakes.push(mistake("worker", detail("address.worker")));
  if (!isField(worker)) mistakes.push(mistake("worker", detail("address.characters")));
  if (!isField(password)) mistakes.push(mistake("password", detail("address.characters")));
  if (parsed === null || mistakes.length > 0) {
    const all = mistakes.map(({ path, message }) => `${path} ${message}`).join("; ");
    throw new RigbridgeError("input.invalid", all, { errors: mistakes });
  }
  return parsed;
}

/** scheme://host:port with nothing else; a missing scheme is stratum+tcp. null when it is not one. */
export function parsePoolUrl(url: string): PoolUrl | null {
  const match = /^(?:([a-z0-9]+(?:\+[a-z0-9]+)?):\/\/)?(\[[0-9A-Fa-f:.]+\]|[A-Za-z0-9._-]+):([0-9]{1,5})\/?$/.exec(url);
  const [, scheme = "stratum+tcp", host = "", digits = ""] = match ?? [];
  const port = Number(digits);
  if (match === null || url.length > 255 || port < 1 || port > 65_535) return null;
  if (host.startsWith("[") && !isIPv6(host.slice(1, -1))) return null;
  return { scheme, host, port, tls: /(?:^|\+)(?:ssl|tls|tcps|stratums|https)$/.test(scheme) };
}

/** The password of the login with this address and worker. */
export const passwordIn = (logins: readonly PoolLogin[], url: string, worker: string): string | undefined =>
  logins.find((login) => login.worker === worker && hostAndPortOf(login.url) === hostAndPortOf(url))?.password;

const isField = (text: string): boolean => text.length <= 255 && !/[\p{Cc}\u2028\u2029]/u.test(text);
