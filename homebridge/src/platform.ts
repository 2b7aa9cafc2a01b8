import { join } from "node:path";
import { setTimeout as pause } from "node:timers/promises";
import type { API, DynamicPlatformPlugin, Logging, PlatformAccessory, PlatformConfig } from "homebridge";
import { RigbridgeError } from "rigbridge";
import { type Logger, logTo, watchFarm } from "rigbridge/farm";
import { isConfigured, readSettings } from "./config/read.ts";
import type { Settings } from "./config/schema.ts";
import { FarmView } from "./farm-view.ts";
import { whatAccessories } from "./homekit/accessories.ts";
import { Home } from "./homekit/home.ts";
import { openElsewhere } from "./service/elsewhere.ts";
import { openInside } from "./service/inside.ts";
import type { Opened } from "./service/opened.ts";
import { teller } from "./teller.ts";

/** ms between two tries to open the service, the first and the longest. */
const firstWait = 1_000;
const longestWait = 60_000;
/** ms that the end may take. */
const patience = 900;

/** What Homebridge runs: shows the rigs of a service, here or elsewhere, for as long as Homebridge runs. */
export class RigbridgePlatform implements DynamicPlatformPlugin {
  readonly #api: API;
  readonly #log: Logging;
  readonly #logger: Logger;
  readonly #home: Home;
  readonly #closing = new AbortController();
  readonly #ended: Promise<void>;

  constructor(log: Logging, config: PlatformConfig, api: API) {
    this.#api = api;
    this.#log = log;
    this.#logger = logTo(log);
    this.#home = new Home(api, log);
    this.#ended = new Promise((resolve) => this.#closing.signal.addEventListener("abort", () => resolve()));
    api.on("didFinishLaunching", () => void this.#run(config).catch((error: unknown) => this.#fail(error)));
    api.on("shutdown", () => this.#closing.abort());
  }

  configureAccessory(accessory: PlatformAccessory): void {
    this.#home.restore(accessory);
  }

  async #run(config: PlatformConfig): Promise<void> {
    if (!isConfigured(config)) {
      this.#log.info(
        "Nothing is configured, so nothing is done: name a service or a rig in the settings of the plugin",
      );
      return;
    }
    const settings = await readSettings(config);
    const opened = await this.#opened(settings);
    if (opened === null) return;
    try {
      await Promise.race([this.#show(settings, opened), this.#ended]);
    } finally {
      await Promise.race([opened.close(), pause(patience, undefined, { ref: false })]);
    }
  }

  /** Tries until it is there; null when Homebridge ends before that. */
  async #opened(settings: Settings): Promise<Opened | null> {
    const { signal } = this.#closing;
    let said = "";
    for (let wait = firstWait; !signal.aborted; wait = Math.min(longestWait, wait * 2)) {
      try {
        if (settings.service !== undefined)
          return await openElsewhere(settings, settings.service, this.#logger, signal);
        return await openInside(settings, join(this.#api.user.storagePath(), "rigbridge"), this.#logger);
      } catch (error) {
        if (!(error instanceof RigbridgeError)) throw error;
        if (error.message !== said) this.#log.warn(`${error.message}; it is tried again`);
        said = error.message;
      }
      await pause(wait, undefined, { signal }).catch(() => undefined);
    }
    return null;
  }

  async #show(settings: Settings, { service, caller, listed }: Opened): Promise<void> {
    const { signal } = this.#closing;
    const view = new FarmView((farm) => {
      try {
        if (farm === null) this.#home.lost();
        else this.#home.show(whatAccessories(farm, settings, listed), farm, tell);
      } catch (error) {
        this.#fail(error);
      }
    });
    const tell = teller(service, caller, view);
    try {
      await watchFarm({ service, caller, log: this.#logger, signal }, view);
    } finally {
      view.close();
    }
  }

  /** With every mistake where there are several. */
  #fail(error: unknown): void {
    if (!(error instanceof RigbridgeError)) {
      this.#log.error(
        `A fault of the plugin: ${error instanceof Error ? (error.stack ?? error.message) : String(error)}`,
      );
      return;
    }
    this.#log.error(error.message);
    for (const { path, message } of error.errors) this.#log.error(`  ${path} ${message}`);
  }
}
