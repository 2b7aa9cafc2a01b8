import type { NodeAPI } from "node-red";
import { z } from "zod";
import { figure, required } from "../shared/config.ts";
import { defineNode, type NodeKind, type Running, type Work } from "../shared/define-node.ts";
import { SummaryReporter } from "./reporter.ts";

const SummaryInConfig = z
  .object({
    service: required,
    onChange: z.boolean().default(true),
    /** s between messages about changes at least. */
    pace: figure(1, 86_400, 30),
    /** s after which an unchanged summary is sent; 0 for never. */
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

/** Sends a summary of all miners. */
export default function register(RED: NodeAPI): void {
  defineNode(RED, summaryIn);
}

function start({ config, node, status, translate, clock }: Work<SummaryInConfig>): Running {
  const { onChange, pace, every } = config;
  const reporter = new SummaryReporter({
    onChange,
    minIntervalMs: pace * 1000,
    repeatMs: every === 0 ? null : every * 1000,
    clock,
    send: (message) => {
      node.send(message);
      const { miners_mining: n, miners: total } = message.payload;
      status.done(translate("status.mining", { n, total }));
    },
  });
  return { member: reporter.member, close: () => reporter.close() };
}
