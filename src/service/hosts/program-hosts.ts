import type { ProgramHosts } from "../../link/programs/host-program.ts";
import type { Store } from "../../store/index.ts";
import type { AgentRequest } from "./agent-session.ts";
import type { HostAgents } from "./host-agents.ts";

/** The hosts of programs whose miners were declared by the host's name. */
export const programHosts =
  (agents: HostAgents, { hosts }: Pick<Store, "hosts">): ProgramHosts =>
  (hostId, port) => {
    const session = agents.session(hostId);
    if (session === undefined) return null;
    const hostname = hosts.get(hostId)?.hostname ?? "";
    const ask = async (request: AgentRequest, otherwise: string, signal: AbortSignal): Promise<string> => {
      const { message } = await agents.required(hostId, hostname).request(request, signal);
      return message ?? otherwise;
    };
    return {
      hostname,
      actions: session.foreignActions(port),
      canReboot: session.permissions?.reboot === true,
      run: (action, signal) => ask({ t: "foreign", port, action }, "The host has run its command", signal),
      reboot: (signal) => ask({ t: "reboot" }, "The host reboots", signal),
    };
  };
