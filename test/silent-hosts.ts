import { spawn } from "node:child_process";
import { once } from "node:events";
import { connect } from "node:net";

/** Addresses of this machine that leave connection requests to these ports unanswered: they queue, and the queue is full. */
export async function silentHosts(
  hosts: readonly string[],
  ports: readonly number[],
): Promise<{ end(): Promise<void> }> {
  const places = hosts.flatMap((host) => ports.map((port) => ({ host, port })));
  const script = `
    const places = ${JSON.stringify(places)};
    const listening = places.map(({ host, port }) => new Promise((resolve) =>
      require("node:net").createServer().listen({ host, port, backlog: 1 }, resolve)));
    Promise.all(listening).then(() => {
      require("node:fs").writeSync(1, "listening");
      Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0);
    });`;
  const child = spawn(process.execPath, ["-e", script], { stdio: ["ignore", "pipe", "inherit"] });
  const ready = once(child.stdout, "data");
  await Promise.race([
    ready,
    once(child, "exit").then(() => {
      throw new Error(`Something listens on ${hosts[0]} or its neighbours at one of the ports ${ports.join(", ")}`);
    }),
  ]);
  const queued = places.flatMap(({ host, port }) => Array.from({ length: 4 }, () => connect(port, host)));
  for (const socket of queued) socket.on("error", () => {});
  // Two of four fit into the queue.
  await Promise.all(queued.filter((_, index) => index % 4 < 2).map((socket) => once(socket, "connect")));
  return {
    end: async () => {
      for (const socket of queued) socket.destroy();
      child.kill("SIGKILL");
      await once(child, "exit");
    },
  };
}
