import { once } from "node:events";
import { createServer, type IncomingHttpHeaders } from "node:http";
import type { AddressInfo } from "node:net";
import { PbfReader } from "pbf";
import { uncompress } from "snappyjs";
import { ownHost } from "../own-host.ts";

/** A sample as it came in; the value of an ended series is null. */
export interface Received {
  readonly labels: Readonly<Record<string, string>>;
  readonly value: number | null;
  readonly at: number;
}

export interface Receiver {
  readonly url: string;
  /** Of each request that was taken, in their order. */
  readonly taken: (readonly Received[])[];
  readonly headers: IncomingHttpHeaders[];
  /** What the next requests are answered with; then all are taken. */
  readonly answers: { status: number; body?: string; headers?: Record<string, string> }[];
  close(): Promise<void>;
}

/** Receives remote write by its specification, and can refuse. */
export async function startReceiver(): Promise<Receiver> {
  const taken: (readonly Received[])[] = [];
  const headers: IncomingHttpHeaders[] = [];
  const answers: Receiver["answers"] = [];
  const server = createServer(async (request, response) => {
    const chunks: Buffer[] = [];
    for await (const chunk of request) chunks.push(chunk);
    headers.push(request.headers);
    const answer = answers.shift();
    if (answer === undefined) taken.push(samplesIn(Buffer.concat(chunks)));
    response.writeHead(answer?.status ?? 204, answer?.headers).end(answer?.body);
  });
  server.listen(0, ownHost());
  await once(server, "listening");
  const { address, port } = server.address() as AddressInfo;
  return {
    url: `http://${address}:${port}/api/v1/write`,
    taken,
    headers,
    answers,
    close: async () => {
      server.closeAllConnections();
      server.close();
      await once(server, "close");
    },
  };
}

/** WriteRequest of https://prometheus.io/docs/specs/prw/remote_write_spec/ */
function samplesIn(body: Buffer): readonly Received[] {
  const all: Received[] = [];
  new PbfReader(uncompress(body)).readFields((tag, _none, pbf) => {
    if (tag === 1) all.push(seriesIn(pbf));
  }, null);
  return all;
}

function seriesIn(series: PbfReader): Received {
  const labels: [string, string][] = [];
  let value: number | null = null;
  let at = 0;
  series.readMessage((tag, _none, pbf) => {
    if (tag === 1) {
      let [name, text] = ["", ""];
      pbf.readMessage((field) => {
        if (field === 1) name = pbf.readString();
        if (field === 2) text = pbf.readString();
      }, null);
      labels.push([name, text]);
    }
    if (tag === 2)
      pbf.readMessage((field) => {
        if (field === 1) {
          const [low, high] = [pbf.readFixed32(), pbf.readFixed32()];
          const view = new DataView(new ArrayBuffer(8));
          view.setUint32(0, low, true);
          view.setUint32(4, high, true);
          value = low === 2 && high === 0x7ff0_0000 ? null : view.getFloat64(0, true);
        }
        if (field === 2) at = pbf.readVarint(true);
      }, null);
  }, null);
  const names = labels.map(([name]) => name);
  if (JSON.stringify(names) !== JSON.stringify([...names].sort())) throw new Error(`labels in disorder: ${names}`);
  if (labels.some(([, text]) => text === "")) throw new Error(`an empty label: ${JSON.stringify(labels)}`);
  return { labels: Object.fromEntries(labels), value, at };
}
