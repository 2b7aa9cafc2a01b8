import { type Logger, pino } from "pino";
import { Config } from "../../../src/config/index.ts";
import type { Input, Reply } from "../../../src/contract/service.ts";
import { type HttpServer, startHttpServer } from "../../../src/http/index.ts";
import { parseAddress } from "../../../src/link/address.ts";
import type { RigSpec } from "../../../src/simulator/index.ts";
import { onTestFinished } from "../../finished.ts";
import { freePort } from "../../free-port.ts";
import { type Bench, type BenchOptions, caller, openBench } from "../bench.ts";
import { AgentDouble, type DoubleOptions } from "./agent-double.ts";

export const serviceKey = "key-of-the-service-1";

export interface HostsBench {
  readonly bench: Bench;
  readonly url: string;
  readonly hostId: number;
  readonly token: string;
  readonly tokenId: number;
  /** An agent of the host with its programs at the virtual rigs, by the id of the managed miner. */
  agent(options?: Partial<DoubleOptions>): Promise<AgentDouble>;
  /** Adds a managed miner that is complete. */
  manage(fields?: Partial<Input<"saveManagedMiner">>): Promise<Reply<"saveManagedMiner">>;
  /** Another run of the service at the same port. */
  restart(): Promise<void>;
}

export const programToken = "token-of-the-program";

export const xmrigRig: RigSpec = { kind: "xmrig", token: programToken, restricted: false, warm: true };

export const noFields: Input<"saveManagedMiner"> = {
  id: 0,
  description: undefined,
  commandLineParams: undefined,
  softwareType: undefined,
  softwarePath: undefined,
  algorithm: undefined,
  dualAlgorithm: undefined,
};

export const pools = [
  {
    name: "monero",
    url: "stratum+tcp://xmr.example.com:3333",
    coin: "XMR",
    wallet: "4Invented",
    worker: "rig",
    password: "hidden-word",
  },
  { name: "spare", url: "stratum+tcp://spare.example.com:3333", coin: "XMR", wallet: "4Invented" },
  { name: "bitcoin", url: "stratum+tcp://btc.example.com:3333", coin: "BTC", worker: "rig" },
];

/** The host and port of a virtual rig. */
export function apiAt(address: string): { readonly host: string; readonly port: number } {
  const { host, port } = parseAddress(address);
  return { host, port: port ?? 0 };
}

/** A service with HTTP, and a host whose agent has a token. */
export async function openHosts(options: BenchOptions & { readonly serverLog?: Logger } = {}): Promise<HostsBench> {
  const bench = await openBench({ ...options, config: { pools, ...options.config } });
  const { http: settings } = Config.parse({ http: { port: await freePort(), key: serviceKey } });
  const log = options.serverLog ?? pino({ level: "silent" });
  const serve = () =>
    startHttpServer({ service: bench.service, settings, log, version: "1.2.3", lease: bench.store.lease });
  let server: HttpServer = await serve();
  onTestFinished(() => server.close());
  const host = await bench.service.saveHost({ id: 0, hostname: "rig-3", description: undefined }, caller);
  const { token, id: tokenId } = await bench.service.addAgent({ hostId: host.id }, caller);
  const agents: AgentDouble[] = [];
  onTestFinished(() => {
    for (const each of agents) each.cut();
  });
  return {
    bench,
    url: server.url,
    hostId: host.id,
    token,
    tokenId,
    agent: async (more = {}) => {
      const api = (id: number) => {
        const rig = bench.farm.rigs[id - 1];
        return rig === undefined ? null : { ...apiAt(rig.address), token: programToken };
      };
      const agent = await AgentDouble.introduced({ url: server.url, token, api, ...more });
      agents.push(agent);
      return agent;
    },
    manage: (fields = {}) =>
      bench.service.saveManagedMiner(
        {
          ...noFields,
          hostId: host.id,
          softwareType: "XmrigMiner",
          poolId: 1,
          algorithm: "rx/0",
          softwareAutoDownload: false,
          softwarePath: "/opt/xmrig",
          ...fields,
        },
        caller,
      ),
    restart: async () => {
      await server.close();
      await bench.restart(options.config ?? { pools });
      server = await serve();
    },
  };
}
