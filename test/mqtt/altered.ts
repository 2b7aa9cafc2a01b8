import type { Socket } from "node:net";
import { startRelay } from "../relay.ts";

/** A proxy in front of a rig that replaces text in its answers, for answers that a simulated rig never gives. */
export interface Altered {
  readonly address: string;
  /** From now on. */
  replace(said: string, by: string): void;
  close(): Promise<void>;
}

export async function startAltered(rig: { readonly host: string; readonly port: number }): Promise<Altered> {
  const words: [string, string][] = [];
  const alter = (client: Socket, behind: Socket): void => {
    const said: Buffer[] = [];
    client.pipe(behind);
    // Rigs of this kind say all at once, and end.
    behind.on("data", (bytes: Buffer) => said.push(bytes));
    behind.on("end", () => {
      const text = Buffer.concat(said).toString("latin1");
      const altered = words.reduce((all, [before, after]) => all.replaceAll(before, after), text);
      client.end(Buffer.from(altered, "latin1"));
    });
  };
  const relay = await startRelay({ host: rig.host, port: rig.port }, alter, { allowHalfOpen: true });
  return {
    address: `127.0.0.1:${relay.port}`,
    replace: (said, by) => words.push([said, by]),
    close: () => relay.close(),
  };
}
