import { pino } from "pino";
import { Config } from "../../src/config/index.ts";
import { startHttpServer } from "../../src/http/index.ts";
import { onTestFinished } from "../finished.ts";
import { type Bench, type BenchOptions, openBench } from "../service/bench.ts";

/** A bench behind an HTTP server, with the environment in which the commands find it. */
export async function servedBench(options: BenchOptions): Promise<{ bench: Bench; env: Record<string, string> }> {
  const bench = await openBench(options);
  const { service } = bench;
  const settings = Config.parse({ http: { port: 0 } }).http;
  const server = await startHttpServer({ service, settings, log: pino({ level: "silent" }), version: "1.2.3" });
  onTestFinished(() => server.close());
  return { bench, env: { RIGBRIDGE_SERVICE: `http://${server.address.host}:${server.address.port}` } };
}
