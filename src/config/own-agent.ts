import { z } from "zod";

const path = z.string().min(1).max(1_000);

/** What the service may do on a host; only the host's own configuration decides that. */
export const AllowSettings = z.strictObject({
  folders: z
    .array(path)
    .max(50)
    .optional()
    .describe("folders that programs may run from; by default only `programs` in the agent's own folder"),
  downloads: z.boolean().default(false).describe("the service may have programs downloaded"),
  reboot: z.boolean().default(false).describe("the service may reboot this host"),
  gpuSettings: z.boolean().default(false).describe("the service may set power limits, clocks and fans of GPUs"),
});

const command = z.array(path).min(1).max(20);

export const rebootCommand = command
  .optional()
  .describe("command that reboots this host, with its arguments; by default the system's");

export const ForeignProgramSettings = z.strictObject({
  port: z.int().min(1).max(65_535).describe("port of its API, as in the address of its miner"),
  start: command.optional().describe("program and arguments that start it, without a shell"),
  stop: command.optional().describe("the same to stop it"),
  restart: command.optional().describe("the same to restart it"),
});

export const foreignPrograms = z
  .array(ForeignProgramSettings)
  .max(50)
  .default([])
  .superRefine((all, context) => {
    for (const [index, { port }] of all.entries())
      if (all.findIndex((each) => each.port === port) < index)
        context.addIssue({ code: "custom", path: [index, "port"], message: "is declared twice" });
  })
  .describe("mining programs on this host that the agent does not run itself, and what the service may do with them");

export const mirror = z
  .url({ protocol: /^https$/, error: "must be an address that begins with https://" })
  .optional()
  .describe(
    "copy of the makers' sites for downloads, requested as <mirror>/<host>/<path>; absent = the sites themselves",
  );

/** The machine of the service as a host. */
export const OwnAgentSettings = z.strictObject({
  enabled: z.boolean().default(false).describe("whether managed miners may run on the service's own machine"),
  group: z.string().min(1).max(200).optional().describe("group of this host; absent = none"),
  data: path.optional().describe("the agent's own folder: state, logs, programs; by default `agent` beside the store"),
  allow: AllowSettings.prefault({}).describe("what users of the service may do on this machine"),
  rebootCommand,
  foreignPrograms,
  mirror,
});
export type OwnAgentSettings = z.infer<typeof OwnAgentSettings>;
