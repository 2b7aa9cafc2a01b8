import { request } from "node:http";
import { type BareRig, barePolling } from "./bare.ts";

/** The floor of polling over HTTP, a connection a call as the drivers have it: the request, the reply, parsed. */
barePolling(
  ({ host, port, kind, token }: BareRig) =>
    new Promise((resolve, reject) => {
      const call = request({
        host,
        port,
        path: kind === "axeos" ? "/api/system/info" : "/2/summary",
        agent: false,
        headers: { connection: "close", ...(token === null ? {} : { authorization: `Bearer ${token}` }) },
      });
      call.setNoDelay(true);
      call.on("error", reject);
      call.on("response", (response) => {
        const chunks: Buffer[] = [];
        response.on("data", (chunk: Buffer) => chunks.push(chunk));
        response.on("end", () => {
          JSON.parse(Buffer.concat(chunks).toString("utf8"));
          resolve();
        });
      });
      call.end();
    }),
);
