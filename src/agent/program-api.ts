import { connect } from "node:net";
import type { SavedLaunch } from "./state-file.ts";

const loopback = "127.0.0.1";
const connectMs = 1_000;
const quitMs = 2_000;

/** Whether something listens at a port of this host's loopback. */
export const connects = (port: number): Promise<boolean> =>
  new Promise((resolve) => {
    const socket = connect({ host: loopback, port, timeout: connectMs });
    const end = (found: boolean): void => {
      socket.destroy();
      resolve(found);
    };
    socket
      .once("connect", () => end(true))
      .once("error", () => end(false))
      .once("timeout", () => end(false));
  });

/** Asks a program through its API to quit; null if its API has no such request. Resolves even if the request fails. */
export function quitRequest({ apiPort, quit }: Pick<SavedLaunch, "apiPort" | "quit">): (() => Promise<void>) | null {
  if (apiPort === null || quit === null) return null;
  return () =>
    new Promise((resolve) => {
      const socket = connect({ host: loopback, port: apiPort, timeout: quitMs });
      socket
        .on("connect", () => socket.write(quit))
        .on("data", () => undefined)
        .on("end", () => socket.end())
        .on("timeout", () => socket.destroy())
        .on("error", () => undefined)
        .on("close", () => resolve());
    });
}
