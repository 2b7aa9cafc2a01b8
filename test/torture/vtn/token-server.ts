import { createHmac } from "node:crypto";
import { once } from "node:events";
import { createServer } from "node:http";
import type { OpenLeadr } from "./openleadr.ts";

/** A server of OAuth2 that issues tokens for a VTN which knows its secret, the first of them expired. */
export interface TokenServer {
  readonly url: string;
  /** How many it has issued. */
  issued(): number;
  close(): Promise<void>;
}

const base64 = (value: object): string => Buffer.from(JSON.stringify(value)).toString("base64url");

/** A token of HS256 (RFC 7519) for reading, which expires that many seconds from now. */
function tokenOf({ ven, secret }: OpenLeadr, seconds: number): string {
  const now = Math.floor(Date.now() / 1000);
  const claims = { sub: ven.clientId, iat: now, exp: now + seconds, scope: "read_targets" };
  const signed = `${base64({ alg: "HS256", typ: "JWT" })}.${base64(claims)}`;
  return `${signed}.${createHmac("sha256", secret()).update(signed).digest("base64url")}`;
}

export async function startTokenServer(vtn: OpenLeadr): Promise<TokenServer> {
  let issued = 0;
  const server = createServer((request, response) => {
    request.resume();
    issued += 1;
    // More than the minute of leeway that the VTN gives.
    const access_token = tokenOf(vtn, issued === 1 ? -120 : 3600);
    response
      .writeHead(200, { "content-type": "application/json" })
      .end(JSON.stringify({ access_token, token_type: "Bearer", expires_in: 3600 }));
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  const address = server.address();
  const port = typeof address === "object" && address !== null ? address.port : 0;
  return {
    url: `http://127.0.0.1:${port}/token`,
    issued: () => issued,
    close: async () => {
      server.closeAllConnections();
      await new Promise<void>((resolve) => server.close(() => resolve()));
    },
  };
}
