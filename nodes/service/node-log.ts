import type { Node } from "node-red";

/** As the service and its client log: a text, or fields and then a text. */
type Line = (fieldsOrText: unknown, text?: unknown) => void;

/** The log of Node-RED. */
export interface HostLog {
  readonly info: Line;
  readonly warn: Line;
  readonly error: Line;
}

/** What a service has to say, said by its node. Its errors are warnings: no message of a flow is at fault. */
export function nodeLog(node: Node): HostLog {
  const texts =
    (say: (text: string) => void): Line =>
    (fieldsOrText, text) =>
      say(String(typeof fieldsOrText === "string" ? fieldsOrText : (text ?? "")));
  const warn = texts((text) => node.warn(text));
  return { info: texts((text) => node.log(text)), warn, error: warn };
}
