import type { Command } from "commander";
import { notFound, RigbridgeError } from "../contract/problems.ts";
import type { Host } from "../contract/resources.ts";
import type { MiningService } from "../contract/service.ts";
import { failing } from "./failure.ts";
import { caller, type ServiceOptions, serviceCommand, withService } from "./service-options.ts";

interface TokenOptions extends ServiceOptions {
  readonly add?: true;
  readonly revoke?: true;
}

/** `rigbridge agent token` */
export function tokenCommand(): Command {
  return serviceCommand("token", "rigbridge agent token rig-pc --add")
    .description("Creates the token with which the agent of a host connects to a running service, or revokes it.")
    .argument("<host>", "id, uid or host name of the host")
    .option("--add", "add the host if the service does not know it")
    .option("--revoke", "revoke its token; its agent is disconnected at once")
    .action(failing(token));
}

async function token(wanted: string, { add, revoke, ...options }: TokenOptions): Promise<void> {
  if (add && revoke) throw new RigbridgeError("input.invalid", "Only one of --add and --revoke may be given");
  await withService(options, async (service) => {
    const host = await findHost(service, wanted, add === true);
    if (revoke) {
      console.log(await revoked(service, host));
      return;
    }
    const { token: made } = await service.addAgent({ hostId: host.id }, caller);
    console.log(`The token of ${host.hostname}, which is shown only once:\n\n  ${made}\n`);
    console.log(
      `Start the agent on that host: RIGBRIDGE_AGENT_TOKEN=<token> rigbridge agent --service ${options.service}`,
    );
  });
}

/** By id, uid or host name, in that order. Throws `not.found`, and `input.invalid` where several have the name. */
async function findHost(service: MiningService, wanted: string, add: boolean): Promise<Host> {
  const hosts = await service.listHosts({}, caller);
  const exact = hosts.find(({ id }) => String(id) === wanted) ?? hosts.find(({ uid }) => uid === wanted);
  if (exact !== undefined) return exact;
  const [only, ...others] = hosts.filter(({ hostname }) => hostname.toLowerCase() === wanted.toLowerCase());
  if (others.length > 0)
    throw new RigbridgeError("input.invalid", `${others.length + 1} hosts are named "${wanted}"; use an id instead`);
  if (only !== undefined) return only;
  if (!add) throw notFound("host", `"${wanted}"; --add adds it`);
  return service.saveHost({ id: 0, hostname: wanted, description: undefined }, caller);
}

async function revoked(service: MiningService, { id, hostname }: Host): Promise<string> {
  const agent = (await service.listAgents({}, caller)).find(({ hostId }) => hostId === id);
  if (agent === undefined) throw new RigbridgeError("nothing.to.do", `${hostname} has no token`);
  return (await service.deleteAgent({ id: agent.id }, caller)).message;
}
