import { execFileSync } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import type { RequestListener } from "node:http";
import { createServer } from "node:https";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { onTestFinished } from "../finished.ts";

/** A certificate for localhost that signs itself. */
function certificate(): { readonly key: string; readonly cert: string } {
  const folder = mkdtempSync(join(tmpdir(), "rigbridge-certificate-"));
  const [key, cert] = [join(folder, "key.pem"), join(folder, "cert.pem")];
  try {
    execFileSync(
      "openssl",
      [
        ...["req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes", "-days", "2"],
        ...["-subj", "/CN=localhost", "-addext", "subjectAltName=DNS:localhost,IP:127.0.0.1"],
        ...["-keyout", key, "-out", cert],
      ],
      { stdio: "ignore" },
    );
    return { key: readFileSync(key, "utf8"), cert: readFileSync(cert, "utf8") };
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

let made: ReturnType<typeof certificate> | undefined;

/** The certificate of servers in this process. */
export function ownCertificate(): ReturnType<typeof certificate> {
  made ??= certificate();
  return made;
}

export interface TestServer {
  /** https://localhost:port */
  readonly url: string;
  readonly ca: string;
  /** Paths that were asked for. */
  readonly asked: readonly string[];
}

/** An HTTPS server on a free port of the loopback, until the test has finished. */
export async function httpsServer(listener: RequestListener): Promise<TestServer> {
  const { key, cert } = ownCertificate();
  const asked: string[] = [];
  const server = createServer({ key, cert }, (request, response) => {
    asked.push(request.url ?? "");
    listener(request, response);
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  onTestFinished(() => {
    server.closeAllConnections();
    server.close();
  });
  const address = server.address();
  if (address === null || typeof address === "string") throw new Error("The server has no port");
  return { url: `https://localhost:${address.port}`, ca: cert, asked };
}
