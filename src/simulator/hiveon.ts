import { antminer } from "./antminer/index.ts";
import type { Conversation, RigBody } from "./rig.ts";

/** Hiveon's firmware of an S19: Bitmain's pages, and its RPC with the power of the boards. */
export const hiveon = (body: RigBody, password: string): Conversation =>
  antminer(
    body,
    { model: "S19", password, speaks: "both", modeAsText: false, nonceSeconds: 600 },
    {
      version: {
        // As that of MSKMiner, which has the same origin.
        BMMiner: "4.11.1 rwglr",
        API: "3.1",
        Miner: "0.0.1.3",
        CompileTime: "10 Dec 2023 14:34:31 GMT",
        Type: "Antminer S19 (Hiveon 1.04)",
      },
      powers: true,
    },
  );
