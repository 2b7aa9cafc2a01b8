import type { NodeAPI } from "node-red";
import { z } from "zod";
import { figure, required } from "../shared/config.ts";
import { defineNode, type NodeKind, type Running, type Work } from "../shared/define-node.ts";
import { Summaries } from "./summaries.ts";

const SummaryInConfig = z
  .object({
    service: required,
    onChange: z.boolean().default(true),
    /** s between two messages because of a change. */
    pace: figure(1, 86_400, 30),
    /** s after which it is sent though nothing has changed; 0 for never. */
    every: figure(0, 86_400, 0),
  })
  .refine(({ onChange, every }) => onChange || every > 0, { path: ["every"], message: "never" });
type SummaryInConfig = z.infer<typeof SummaryInConfig>;

export const summaryIn: NodeKind<SummaryInConfig> = {
  type: "rigbridge-summary-in",
  version: 1,
  migrations: [],
  schema: SummaryInConfig,
  start,
};

/** Sends the summary of the farm. */
export default function register(RED: NodeAPI): void {
  defineNode(RED, summaryIn);
}

function start({ config, node, status, say, clock }: Work<SummaryInConfig>): Running {
  const { onChange, pace, every } = config;
  const summaries = new Summaries({
    ...{ onChange, pace: pace * 1000, every: every === 0 ? null : every * 1000, clock },
    send: (message) => {
      node.send(message);
      const { miners_mining: n, miners: total } = message.payload;
      status.done(say("status.mining", { n, total }));
    },
  });
  return { member: summaries.member, close: () => summaries.close() };
}
