import { createHash } from "node:crypto";
import { type HttpRequest, httpReply } from "../http-message.ts";
import type { Reply } from "../reply.ts";

/** The digest login of the rig's lighttpd. */
export interface DigestLogin {
  readonly realm: string;
  readonly username: string;
  readonly password: string;
  /** Seconds until a nonce expires. */
  readonly nonceSeconds: number;
}

/** null if the login is valid, otherwise a 401 with a new nonce. `at` is the rig's clock, epoch ms. */
export function refusalOf(login: DigestLogin, request: HttpRequest, at: number): Reply | null {
  const given = partsOf(request.headers.get("authorization") ?? "");
  if (given === null || given.response !== responseTo(login, request, given)) return challenge(login, at, false);
  return at - madeAt(given.nonce) <= login.nonceSeconds * 1000 ? null : challenge(login, at, true);
}

/** A nonce that contains its time, like those of lighttpd. */
const nonceOf = (at: number): string => {
  const time = Math.floor(at / 1000).toString(16);
  return `${time}:${md5(`rig:${time}`)}`;
};

function madeAt(nonce: string): number {
  const seconds = Number.parseInt(nonce.split(":", 1)[0] ?? "", 16);
  return nonce === nonceOf(seconds * 1000) ? seconds * 1000 : Number.NEGATIVE_INFINITY;
}

interface Credentials {
  readonly username: string;
  readonly nonce: string;
  readonly uri: string;
  readonly response: string;
  readonly nc: string;
  readonly cnonce: string;
}

function partsOf(header: string): Credentials | null {
  if (!header.startsWith("Digest ")) return null;
  const part = (name: string): string =>
    new RegExp(`(?:^|[\\s,])${name}=(?:"([^"]*)"|([^\\s,]*))`)
      .exec(header)
      ?.slice(1)
      .find((each) => each !== undefined) ?? "";
  return {
    username: part("username"),
    nonce: part("nonce"),
    uri: part("uri"),
    response: part("response"),
    nc: part("nc"),
    cnonce: part("cnonce"),
  };
}

function responseTo(
  { realm, username, password }: DigestLogin,
  request: HttpRequest,
  given: Credentials,
): string | null {
  if (given.username !== username || given.uri !== request.path) return null;
  const secret = md5(`${username}:${realm}:${password}`);
  return md5([secret, given.nonce, given.nc, given.cnonce, "auth", md5(`${request.method}:${given.uri}`)].join(":"));
}

const md5 = (text: string): string => createHash("md5").update(text).digest("hex");

function challenge({ realm }: DigestLogin, at: number, stale: boolean): Reply {
  const parameters = [`realm="${realm}"`, `nonce="${nonceOf(at)}"`, 'qop="auth"', ...(stale ? ["stale=true"] : [])];
  return httpReply({
    status: 401,
    reason: "Unauthorized",
    headers: [
      `WWW-Authenticate: Digest ${parameters.join(", ")}`,
      "Content-Type: text/html",
      "Content-Length: {length}",
      "Connection: close",
      "Server: lighttpd/1.4.32",
    ],
    body: "<html><head><title>401 - Unauthorized</title></head><body><h1>401 - Unauthorized</h1></body></html>",
    close: true,
  });
}
