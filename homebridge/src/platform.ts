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
import { type BackOff, type Logger, logTo, RigFaults, retry, watchFarm } from "rigbridge/farm";
import { isConfigured, nameOf, readSettings } from "./config/read.ts";
import type { Settings } from "./config/schema.ts";
import { type Farm, FarmView, planWithoutFailing } from "./farm-view.ts";
import { planAccessories } from "./homekit/accessories.ts";
import { historyReader } from "./homekit/eve-history.ts";
import { Home } from "./homekit/home.ts";
import { MatterBridge } from "./matter/bridge.ts";
import { planDevices } from "./matter/devices.ts";
import { type OpenService, openElsewhere, openInside } from "./open-service.ts";
import { commandSender, type SendCommand } from "./send-command.ts";
import { folderIn, StatusFile } from "./status-file.ts";

/** Between two attempts to open the service, the first time and at most. */
const retryDelays: BackOff = { firstMs: 1_000, longestMs: 60_000 };
/** For closing the service when Homebridge stops. */
const closeTimeoutMs = 900;
const noRigs = "The service has no rigs at present, so nothing is shown";

/** The platform that Homebridge runs: shows the rigs of a service, inside the plugin or elsewhere. */
export class RigbridgePlatform implements DynamicPlatformPlugin {
  readonly #api: API;
  readonly #log: Logging;
  readonly #logger: Logger;
  readonly #faults: RigFaults;
  readonly #home: Home;
  #matterBridge: MatterBridge | null = null;
  readonly #closing = new AbortController();
  readonly #closed: Promise<void>;

  constructor(log: Logging, config: PlatformConfig, api: API) {
    this.#api = api;
    this.#log = log;
    this.#logger = logTo(log);
    this.#faults = new RigFaults(this.#logger);
    this.#home = new Home(api, log, this.#faults);
    this.#closed = new Promise((resolve) => this.#closing.signal.addEventListener("abort", () => resolve()));
    api.on("didFinishLaunching", () => void this.#run(config).catch((error: unknown) => this.#fail(error)));
    api.on("shutdown", () => this.#closing.abort());
  }

  configureAccessory(accessory: PlatformAccessory): void {
    this.#home.restore(accessory);
  }

  configureMatterAccessory(accessory: MatterAccessory): void {
    this.#matter?.restore(accessory);
  }

  /** null if Matter is off in Homebridge, which is known only once Homebridge has started it. */
  get #matter(): MatterBridge | null {
    const { matter } = this.#api;
    if (matter !== undefined && this.#api.isMatterEnabled())
      this.#matterBridge ??= new MatterBridge(matter, this.#log, this.#faults, this.#closing.signal);
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
      status.remove();
      this.#showNothing();
      this.#log.info("Nothing is configured: add a rig or a service in the plugin's settings");
      return;
    }
    const open = await this.#open(settings, folder, status);
    if (open === null) return;
    try {
      await Promise.race([this.#show(settings, open, status), this.#closed]);
    } finally {
      await Promise.race([open.close(), pause(closeTimeoutMs, undefined, { ref: false })]);
    }
  }

  /** Retries until the service is open; null if Homebridge stops before that. */
  async #open(settings: Settings, folder: string, status: StatusFile): Promise<OpenService | null> {
    const { signal } = this.#closing;
    let logged = "";
    const open = (): Promise<OpenService> =>
      settings.service === undefined
        ? openInside(settings, folder, this.#logger)
        : openElsewhere(settings, settings.service, this.#logger, signal);
    const failed = (error: unknown): void => {
      if (!(error instanceof RigbridgeError)) throw error;
      if (error.message !== logged) this.#log.warn(`${error.message.replace(/\.$/, "")}; retrying`);
      logged = error.message;
      status.failed(logged);
    };
    return retry(open, failed, retryDelays, signal);
  }

  async #show(settings: Settings, { service, caller, find }: OpenService, status: StatusFile): Promise<void> {
    const { signal } = this.#closing;
    let wasEmpty = false;
    const view = new FarmView((farm) => {
      try {
        // A service without rigs is starting or has lost them: removing all accessories would empty rooms and scenes.
        if (farm === null || farm.miners.length === 0) {
          this.#home.lost();
          this.#matter?.lost();
          status.failed(farm === null ? "The service does not answer" : noRigs);
          if (farm !== null && !wasEmpty) this.#log.warn(noRigs);
          wasEmpty = farm !== null;
          return;
        }
        wasEmpty = false;
        const plan = planWithoutFailing(farm, this.#faults, (each) => ({
          home: planAccessories(each, settings, find),
          devices: planDevices(each, settings, find),
        }));
        this.#home.show(plan.home, plan.farm, sendCommand, readHistory);
        this.#matter?.show(plan.devices, plan.farm, sendCommand);
        status.shown(plan.home);
      } catch (error) {
        this.#fail(error);
      }
    });
    const sendCommand = commandSender(service, caller, view);
    const readHistory = historyReader(service, caller);
    try {
      await watchFarm({ service, caller, log: this.#logger, signal }, view);
    } finally {
      view.close();
    }
  }

  /** Removes what Homebridge remembers: its rigs were removed from the settings. */
  #showNothing(): void {
    const nothing = { miners: [], groups: [], rules: [], rulesRunOnEach: false };
    const farm: Farm = { ...nothing, energies: {}, hidden: new Set(), isPartial: false };
    const sendCommand: SendCommand = () => Promise.resolve();
    this.#home.show({ accessories: [], doubtful: [], notes: [] }, farm, sendCommand, async () => []);
    this.#matter?.show([], farm, sendCommand);
  }

  /** Logs every mistake of the settings. */
  #fail(error: unknown): void {
    if (!(error instanceof RigbridgeError)) {
      const text = error instanceof Error ? (error.stack ?? error.message) : String(error);
      this.#log.error(`Internal error of the plugin: ${text}`);
      return;
    }
    this.#log.error(error.message);
    for (const { path, message } of error.errors) this.#log.error(`  ${path} ${message}`);
  }
}
