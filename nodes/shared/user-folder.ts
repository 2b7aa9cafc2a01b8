import { join } from "node:path";
import type { NodeAPI } from "node-red";
import { Fault } from "./faults.ts";

/** A file in Node-RED's user folder. Throws a Fault if there is no such folder. */
export function fileOf(RED: NodeAPI, name: string): string {
  const { userDir } = RED.settings;
  if (userDir === undefined) throw new Fault("store.refused", "no-folder");
  return join(userDir, "rigbridge", name);
}
