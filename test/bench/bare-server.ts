import { createServer, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import fastify from "fastify";
import { z } from "zod";
import { answering } from "./child.ts";

/** Servers that only send: the floor under GET /api/miners, what one would write without more thought, and Fastify. */

const Source = z.object({ url: z.string(), key: z.string().nullable(), chunks: z.int() });

const fetched = async (url: string, key: string | null): Promise<Buffer> => {
  const reply = await fetch(url, key === null ? {} : { headers: { "x-api-key": key } });
  return Buffer.from(await reply.arrayBuffer());
};

const urlOf = (server: Server): string => {
  const address = server.address();
  return `http://127.0.0.1:${isInfo(address) ? address.port : 0}`;
};
const isInfo = (address: ReturnType<Server["address"]>): address is AddressInfo => typeof address === "object";

answering({
  /** The bytes of that page, at `/chunks` and `/ready`; its value, made into JSON for each request, at `/stringify`. */
  list: async (input) => {
    const { url, key, chunks: count } = Source.parse(input);
    const bytes = await fetched(url, key);
    const value: unknown = JSON.parse(bytes.toString());
    const size = Math.ceil(bytes.length / count);
    const chunks = Array.from({ length: count }, (_, index) =>
      Buffer.from(bytes.subarray(index * size, (index + 1) * size)),
    );
    const server = createServer((request, response) => {
      response.setHeader("content-type", "application/json");
      if (request.url === "/ready") response.end(bytes);
      else if (request.url === "/stringify") response.end(JSON.stringify(value));
      else response.end(Buffer.concat(chunks));
    });
    await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
    return urlOf(server);
  },
  /** A handler that returns that page's value, and nothing else. */
  fastify: async (input) => {
    const { url, key } = Source.parse(input);
    const value: unknown = JSON.parse((await fetched(url, key)).toString());
    const app = fastify();
    app.get("/api/summary", async () => value);
    await app.listen({ host: "127.0.0.1", port: 0 });
    return urlOf(app.server);
  },
});
