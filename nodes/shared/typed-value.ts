import type { Node, NodeAPI, NodeMessage } from "node-red";
import type { ValueType } from "./config.ts";
import { fieldFault } from "./faults.ts";

/** A field of the editor that may be a text, or say where the value comes from. */
export interface TypedField {
  /** As in the configuration, and under `field` in the catalogue. */
  readonly name: string;
  readonly value: string;
  readonly type: ValueType;
}

/** What a field comes to for this message; undefined where it leads to nothing. Throws a Fault that names the field. */
export async function fieldValue(RED: NodeAPI, node: Node, field: TypedField, msg: NodeMessage): Promise<unknown> {
  const { value, type, name } = field;
  if (type !== "str" && value === "" && type !== "bool") throw fieldFault(name, "empty");
  try {
    return await new Promise((resolve, reject) => {
      RED.util.evaluateNodeProperty(value, type, node, msg, (error, result) =>
        error ? reject(error) : resolve(result),
      );
    });
  } catch (error) {
    const why = error instanceof Error ? error.message : String(error);
    throw fieldFault(name, "no-value", { why, type });
  }
}
