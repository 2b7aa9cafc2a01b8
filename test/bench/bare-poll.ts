import { connect } from "node:net";
import { type BareRig, barePolling } from "./bare.ts";

/** The floor of polling: a socket, the same joined command, the reply up to its NUL, parsed. Nothing else. */
barePolling(
  ({ host, port }: BareRig) =>
    new Promise((resolve, reject) => {
      const socket = connect({ host, port, noDelay: true });
      const chunks: Buffer[] = [];
      socket.on("error", reject);
      socket.on("connect", () => socket.write('{"command":"summary+pools+devs+stats"}'));
      socket.on("data", (chunk: Buffer) => {
        chunks.push(chunk);
        if (chunk.at(-1) !== 0) return;
        JSON.parse(Buffer.concat(chunks).toString("utf8").slice(0, -1));
        socket.destroy();
        resolve();
      });
    }),
);
