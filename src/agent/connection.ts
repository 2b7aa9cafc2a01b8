import { isUnprotected } from "../config/unprotected.ts";
import { agentPath, type FromAgent, laterEpochCode, leaseHeader, ToAgent } from "../contract/agent.ts";
import { RigbridgeError } from "../contract/problems.ts";
import { isRecord } from "../contract/record.ts";
import type { ServiceLink, ServiceReceiver } from "./agent.ts";
import { type ConnectionOptions, OutwardConnection, type OutwardProtocol } from "./outward-connection.ts";
import type { SeenLease } from "./seen-lease.ts";

export type { ConnectionLimits, ConnectionOptions } from "./outward-connection.ts";

const needsTls = (host: string): string =>
  `The service at ${host.replace(/^\[|\]$/g, "")} is outside this host's private networks, so its address must begin with https://; ` +
  "--insecure would send the token unencrypted";

/** Throws `config.invalid` if the token would be sent in the clear beyond private networks. Names are checked later. */
export function checkService({
  service,
  insecure,
}: Pick<ConnectionOptions, "insecure"> & { readonly service: URL }): void {
  if (!insecure && isUnprotected(service)) throw new RigbridgeError("config.invalid", needsTls(service.hostname));
}

const refusals: Readonly<Record<number, string>> = {
  401: "the token is wrong or was revoked; create another one with `rigbridge agent token`",
  403: "the token is not accepted from this address",
  404: "there is no Rigbridge with support for agents at this address",
  426: "a proxy between agent and service does not pass WebSockets",
};

const ifRestored =
  "if it was restored from a backup, start the service once with --accept-restored; programs keep running";

const protocol = (lease: SeenLease): OutwardProtocol<ToAgent, FromAgent> => ({
  path: agentPath,
  parse: (message) => ToAgent.safeParse(message).data,
  answerUnknown: (message) => {
    if (!isRecord(message) || typeof message.n !== "number") return undefined;
    const error = {
      code: "service.unsupported",
      message: "The agent of the host does not know this request; update the agent",
    };
    return { t: "done", n: message.n, error };
  },
  refusal: (status) => refusals[status],
  refuses: ({ [leaseHeader]: text }, host) => {
    // Absent: the service has its store alone, or is of an earlier release.
    const older = typeof text === "string" ? lease.take(text) : null;
    if (older === null) return null;
    const epochs = `epoch ${older.epoch}; seen: epoch ${older.seen}`;
    return {
      code: laterEpochCode,
      reason: String(older.seen),
      sentence: `This agent refuses the service at ${host}: its database is older than the agent has seen it, or a copy (${epochs}); ${ifRestored}`,
    };
  },
  needsTls,
  says: {
    connected: (log, host) => log.info(`Connected to the service at ${host}`),
    refused: (log, host, reason) =>
      log.error(`The service at ${host} refuses this agent (${reason}); programs keep running`),
    lost: (log, host, reason) =>
      log.warn(`No connection to the service at ${host} (${reason}); programs keep running, and the agent tries again`),
    unknown: (log) =>
      log.warn("The service has sent a message that this agent does not understand; it may need an update"),
  },
});

/** The connection of a host's agent to its service. */
export class Connection extends OutwardConnection<ToAgent, FromAgent> {
  /** `lease`: what the agent has seen of the lease of the service's store. */
  constructor(options: ConnectionOptions, lease: SeenLease, take: (link: ServiceLink) => ServiceReceiver) {
    super(protocol(lease), options, take);
  }
}
