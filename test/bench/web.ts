import { get } from "node:http";
import { connect } from "node:net";

const keyHeader = (key: string | null): Record<string, string> => (key === null ? {} : { "x-api-key": key });

/** Bytes of an answer that is read, not decoded, and thrown away. Throws for any status but 200. */
export function fetchAway(url: string, key: string | null, encoding?: string): Promise<number> {
  const headers = { ...keyHeader(key), ...(encoding === undefined ? {} : { "accept-encoding": encoding }) };
  return new Promise((resolve, reject) => {
    const request = get(url, { headers }, (response) => {
      let bytes = 0;
      response.on("data", (chunk: Buffer) => (bytes += chunk.length));
      response.on("error", reject);
      response.on("end", () =>
        response.statusCode === 200 ? resolve(bytes) : reject(new Error(`${url}: ${response.statusCode}`)),
      );
    });
    request.on("error", reject);
  });
}

/** Asks for a page over and over on so many connections; how many answers came in that time. Throws unless all are 200. */
export async function hammer(
  url: string,
  { key, connections, seconds }: { key: string | null; connections: number; seconds: number },
): Promise<number> {
  const { hostname, port, pathname, host } = new URL(url);
  const headers = Object.entries({ host, ...keyHeader(key) }).map(([name, value]) => `${name}: ${value}\r\n`);
  const request = Buffer.from(`GET ${pathname} HTTP/1.1\r\n${headers.join("")}\r\n`);
  const until = performance.now() + 1000 * seconds;
  let answers = 0;
  const one = (): Promise<void> =>
    new Promise((resolve, reject) => {
      const socket = connect({ host: hostname, port: Number(port), noDelay: true });
      let text = "";
      socket.on("error", reject);
      socket.on("connect", () => socket.write(request));
      socket.setEncoding("latin1");
      socket.on("data", (chunk: string) => {
        text += chunk;
        const head = text.indexOf("\r\n\r\n");
        if (head === -1) return;
        const length = Number(/content-length: (\d+)/i.exec(text)?.[1]);
        if (!text.startsWith("HTTP/1.1 200") || Number.isNaN(length)) {
          socket.destroy();
          reject(new Error(`${url}: ${text.slice(0, head)}`));
        }
        if (text.length < head + 4 + length) return;
        answers += 1;
        text = "";
        if (performance.now() < until) socket.write(request);
        else {
          socket.destroy();
          resolve();
        }
      });
    });
  await Promise.all(Array.from({ length: connections }, one));
  return answers;
}

/** Follows a stream of server-sent events until the signal; the text of each portion, as it came. */
export function follow(url: string, portion: (text: string) => void, signal: AbortSignal): Promise<void> {
  return new Promise((resolve, reject) => {
    const request = get(url, { signal, headers: { accept: "text/event-stream" } }, (response) => {
      if (response.statusCode !== 200) reject(new Error(`${url}: ${response.statusCode}`));
      response.setEncoding("utf8").on("data", portion);
      response.on("error", () => resolve());
      response.on("end", () => resolve());
    });
    request.on("error", (error) => (signal.aborted ? resolve() : reject(error)));
  });
}
