import { setTimeout as pause } from "node:timers/promises";
import type {
  API,
  DynamicPlatformPlugin,
  Logging,
  MatterAccessory,
  PlatformAccessory,
  PlatformConfig,
} from "homebridge";
import { RigbridgeError } from "rigbridge";
import { type Logger, logTo, RigFaults, watchFarm } from "rigbridge/farm";
import { isConfigured, nameOf, readSettings } from "./config/read.ts";
import type { Settings } from "./config/schema.ts";
import { type Farm, FarmView } from "./farm-view.ts";
import { whatAccessories } from "./homekit/accessories.ts";
import { Home } from "./homekit/home.ts";
import { MatterBridge } from "./matter/bridge.ts";
import { whatDevices } from "./matter/devices.ts";
import { planned } from "./planned.ts";
import { commandSender, type SendCommand } from "./send-command.ts";
import { openElsewhere } from "./service/elsewhere.ts";
import { openInside } from "./service/inside.ts";
import type { Opened } from "./service/opened.ts";
import { folderIn, StatusFile } from "./status-file.ts";

/** ms between two tries to open the service, the first and the longest. */
const firstWait = 1_000;
const longestWait = 60_000;
const noRigs = "The service has no rigs now, so nothing is shown of them";
/** ms that the end may take. */
const patience = 900;

/** What Homebridge runs: shows the rigs of a service, here or elsewhere, for as long as Homebridge runs. */
export class RigbridgePlatform implements DynamicPlatformPlugin {
  readonly #api: API;
  readonly #log: Logging;
  readonly #logger: Logger;
  readonly #faults: RigFaults;
  readonly #home: Home;
  #matterBridge: MatterBridge | null = null;
  readonly #closing = new AbortController();
  readonly #ended: Promise<void>;

  constructor(log: Logging, config: PlatformConfig, api: API) {
    this.#api = api;
    this.#log = log;
    this.#logger = logTo(log);
    this.#faults = new RigFaults(this.#logger);
    this.#home = new Home(api, log, this.#faults);
    this.#ended = new Promise((resolve) => this.#closing.signal.addEventListener("abort", () => resolve()));
    api.on("didFinishLaunching", () => void this.#run(config).catch((error: unknown) => this.#fail(error)));
    api.on("shutdown", () => this.#closing.abort());
  }

  configureAccessory(accessory: PlatformAccessory): void {
    this.#home.restore(accessory);
  }

  configureMatterAccessory(accessory: MatterAccessory): void {
    this.#matter?.restore(accessory);
  }

  /** null where Homebridge has it off. That is known only once Homebridge has started it. */
  get #matter(): MatterBridge | null {
    const { matter } = this.#api;
    if (matter !== undefined && this.#api.isMatterEnabled())
      this.#matterBridge ??= new MatterBridge(matter, {
        log: this.#log,
        faults: this.#faults,
        closing: this.#closing.signal,
      });
    return this.#matterBridge;
  }

  async #run(config: PlatformConfig): Promise<void> {
    const folder = folderIn(this.#api.user.storagePath(), nameOf(config));
    const status = new StatusFile(folder, (message) => this.#log.warn(message));
    const settings = await readSettings(config).catch((error: unknown) => {
      if (error instanceof RigbridgeError) status.failed(error.message);
      throw error;
    });
    if (!isConfigured(config)) {
      status.forget();
      this.#showNothing();
      this.#log.info(
        "Nothing is configured, so nothing is done: name a service or a rig in the settings of the plugin",
      );
      return;
    }
    const opened = await this.#opened(settings, folder, status);
    if (opened === null) return;
    try {
      await Promise.race([this.#show(settings, opened, status), this.#ended]);
    } finally {
      await Promise.race([opened.close(), pause(patience, undefined, { ref: false })]);
    }
  }

  /** Tries until it is there; null when Homebridge ends before that. */
  async #opened(settings: Settings, folder: string, status: StatusFile): Promise<Opened | null> {
    const { signal } = this.#closing;
    let said = "";
    for (let wait = firstWait; !signal.aborted; wait = Math.min(longestWait, wait * 2)) {
      try {
        if (settings.service !== undefined)
          return await openElsewhere(settings, settings.service, this.#logger, signal);
        return await openInside(settings, folder, this.#logger);
      } catch (error) {
        if (!(error instanceof RigbridgeError)) throw error;
        if (error.message !== said) this.#log.warn(`${error.message.replace(/\.$/, "")}; it is tried again`);
        said = error.message;
        status.failed(said);
      }
      await pause(wait, undefined, { signal }).catch(() => undefined);
    }
    return null;
  }

  async #show(settings: Settings, { service, caller, listed }: Opened, status: StatusFile): Promise<void> {
    const { signal } = this.#closing;
    let saidEmpty = false;
    const view = new FarmView((farm) => {
      try {
        // One without any rig is starting, or has lost its own: to remove all would take them out of rooms and scenes.
        if (farm === null || farm.miners.length === 0) {
          this.#home.lost();
          this.#matter?.lost();
          status.failed(farm === null ? "The service does not answer" : noRigs);
          if (farm !== null && !saidEmpty) this.#log.warn(noRigs);
          saidEmpty = farm !== null;
          return;
        }
        saidEmpty = false;
        const plans = planned(farm, this.#faults, (each) => ({
          home: whatAccessories(each, settings, listed),
          devices: whatDevices(each, settings, listed),
        }));
        this.#home.show(plans.home, plans.farm, sendCommand);
        this.#matter?.show(plans.devices, plans.farm, sendCommand);
        status.shown(plans.home);
      } catch (error) {
        this.#fail(error);
      }
    });
    const sendCommand = commandSender(service, caller, view);
    try {
      await watchFarm({ service, caller, log: this.#logger, signal }, view);
    } finally {
      view.close();
    }
  }

  /** What is remembered goes: its rigs have been taken out of the settings. */
  #showNothing(): void {
    const farm: Farm = { miners: [], groups: [], rules: [], hidden: new Set() };
    const sendCommand: SendCommand = () => Promise.resolve();
    this.#home.show({ accessories: [], doubtful: [], notes: [] }, farm, sendCommand);
    this.#matter?.show([], farm, sendCommand);
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
