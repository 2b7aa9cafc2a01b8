import type { NodeAPI } from "node-red";
import type { Say } from "./faults.ts";

/** The texts that all nodes share stand with the configuration node. */
const catalogue = "@rigbridge/node-red/rigbridge-service";

export const wordsOf =
  (RED: NodeAPI): Say =>
  (key, words = {}) =>
    RED._(`${catalogue}:${key}`, { ...words });
