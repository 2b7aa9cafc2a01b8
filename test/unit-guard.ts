import { ChildProcess } from "node:child_process";
import { Socket as UdpSocket } from "node:dgram";
import fs from "node:fs";
import { syncBuiltinESMExports } from "node:module";
import { Server, Socket } from "node:net";

/**
 * All unit tests together take seconds in one process. One that opens a socket, starts a process or writes a file fails
 * with an error that says what to do.
 */
function forbid(owner: object, methods: readonly string[], what: string): void {
  for (const method of methods)
    Object.defineProperty(owner, method, {
      configurable: true,
      value: () => {
        throw new Error(`A unit test ${what} (${method}). Rename it from *.unit.test.ts to *.test.ts.`);
      },
    });
}

forbid(Server.prototype, ["listen"], "opened a socket");
forbid(Socket.prototype, ["connect"], "opened a socket");
forbid(UdpSocket.prototype, ["bind", "send"], "opened a socket");
forbid(ChildProcess.prototype, ["spawn"], "started a process");
for (const name of ["mkdtemp", "mkdir", "writeFile", "appendFile"]) {
  forbid(fs, [name, `${name}Sync`], "wrote a file");
  forbid(fs.promises, [name], "wrote a file");
}
syncBuiltinESMExports();
