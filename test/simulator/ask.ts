import { once } from "node:events";
import { connect, type Socket } from "node:net";
import type { SimulatedRig } from "../../src/simulator/index.ts";
import { within } from "../until.ts";

/** Opens a connection and sends the text. */
export async function send(rig: Pick<SimulatedRig, "host" | "port">, text: string): Promise<Socket> {
  const socket = connect(rig.port, rig.host);
  await within(once(socket, "connect"), "the rig to take the connection");
  socket.write(text);
  return socket;
}

/** Sends the text and returns everything until the rig ends the connection, each byte as one character. */
export async function ask(rig: Pick<SimulatedRig, "host" | "port">, text: string): Promise<string> {
  const socket = await send(rig, text);
  let reply = "";
  socket.setEncoding("latin1");
  socket.on("data", (chunk: string) => {
    reply += chunk;
  });
  await within(once(socket, "end"), "the rig to end its reply", { details: () => reply });
  socket.destroy();
  return reply;
}

/** Sends the text and returns everything up to and including `last`. */
export async function askUntil(rig: SimulatedRig, text: string, last: string): Promise<string> {
  const socket = await send(rig, text);
  let reply = "";
  socket.setEncoding("latin1");
  const read = async () => {
    for await (const chunk of socket) {
      reply += String(chunk);
      if (reply.includes(last)) break;
    }
  };
  await within(read(), `the rig's reply as far as ${last}`, { details: () => reply });
  return reply;
}

type Json = Record<string, unknown>;

export function objectOf(value: unknown): Json {
  if (typeof value !== "object" || value === null) throw new Error(`no object: ${String(value)}`);
  return { ...value };
}

/** The records of one section. */
export function records(reply: Json, section: string): Json[] {
  const list = reply[section];
  if (!Array.isArray(list)) throw new Error(`no section ${section}`);
  return list.map(objectOf);
}

/** Sends a cgminer command and returns its parsed reply, which must end with a NUL. */
export async function command(rig: SimulatedRig, name: string, parameter?: string): Promise<Json> {
  const reply = await ask(rig, JSON.stringify({ command: name, parameter }));
  if (!reply.endsWith("\0")) throw new Error("the reply does not end with a NUL");
  return objectOf(JSON.parse(reply.slice(0, -1)));
}

/** Code and message of a command's status. */
export async function status(rig: SimulatedRig, name: string, parameter?: string): Promise<string> {
  const [first = {}] = records(await command(rig, name, parameter), "STATUS");
  return `${first.STATUS}${first.Code} ${first.Msg}`;
}
