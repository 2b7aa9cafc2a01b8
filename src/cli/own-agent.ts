import { dirname, join, resolve } from "node:path";
import type { Logger } from "pino";
import { declaredProgram } from "../config/index.ts";
import { RigbridgeError } from "../contract/problems.ts";
import type { MiningService } from "../contract/service.ts";
import type { Sections, SettingsPart } from "../service/index.ts";
import { version } from "../version.ts";

type Settings = Sections<"agent" | "software">;

/**
 * The agent of the service's own machine, as long as the settings enable it. It is the same agent, but runs in this
 * process, without a socket. Other settings restart it, with its programs.
 */
export class LiveOwnAgent {
  readonly #settings: SettingsPart<"agent" | "software">;
  readonly #store: string;
  readonly #log: Logger;
  #running: { close(): Promise<void> } | null = null;

  /** `store`: the file of the store, beside which the agent keeps its own. */
  constructor(settings: SettingsPart<"agent" | "software">, store: string, log: Logger) {
    this.#settings = settings;
    this.#store = store;
    this.#log = log;
  }

  async start(service: OwnAgentService): Promise<void> {
    this.#running = await openOwnAgent(service, this.#settings.now, this.#store, this.#log);
    this.#settings.onChange(async (now) => {
      await this.close();
      this.#running = await openOwnAgent(service, now, this.#store, this.#log);
    });
  }

  async close(): Promise<void> {
    const running = this.#running;
    this.#running = null;
    await running?.close();
  }
}

type OwnAgentService = Pick<MiningService, "takeOwnAgent">;

/** Null while the settings disable it. Its modules are loaded only once it is needed. */
async function openOwnAgent(
  service: OwnAgentService,
  { agent: settings, software }: Settings,
  store: string,
  log: Logger,
) {
  if (!settings.enabled) return null;
  if (store === ":memory:" && settings.data === undefined)
    throw new RigbridgeError("config.invalid", "agent.data is required where store.url is :memory:");
  const [{ openAgent }, { pairAgent }] = await Promise.all([
    import("../agent/open-agent.ts"),
    import("./pair-agent.ts"),
  ]);
  const folder = resolve(settings.data ?? join(dirname(store), "agent"));
  const { allow, rebootCommand, foreignPrograms, mirror = null } = settings;
  const own = software.map(declaredProgram);
  const agent = openAgent({ folder, version, log, own, mirror, allow, rebootCommand, foreignPrograms });
  await agent.start();
  const end = pairAgent(agent, (connection) => service.takeOwnAgent?.(connection));
  return {
    close: async () => {
      end();
      await agent.close();
    },
  };
}
