import { dirname } from "node:path";
import { isDeepStrictEqual } from "node:util";
import { homeAssistantSettings, type MqttSettings } from "../config/mqtt.ts";
import type { MqttStatus } from "../contract/mqtt-status.ts";
import { RigbridgeError } from "../contract/problems.ts";
import type { Bridge, BridgeOptions, PairOfBridges } from "../mqtt/index.ts";
import { BrokerMessages } from "../mqtt/messages.ts";
import type { LiveSettings, Sections } from "../service/index.ts";
import { version } from "../version.ts";

type Shared = Pick<BridgeOptions, "service" | "log" | "restart" | "page">;
type Used = Sections<"mqtt" | "display">;

/** The MQTT bridge of this process, which reconnects when its settings change. */
export class LiveBridge {
  /** The broker for plugs, sensors and rules, independent of the settings. */
  readonly messages: BrokerMessages;
  readonly #settings;
  /** Folder for files that outlive the process; null: none. */
  readonly #folder: string | null;
  readonly #pair: PairOfBridges | null;
  #bridge: Bridge | undefined;
  #isClosed = false;

  /** `store`: what other files lie beside. `pair`: absent for a service that has its store alone. */
  constructor(settings: LiveSettings, store: string, pair: PairOfBridges | null = null) {
    this.#pair = pair;
    this.#settings = settings.part("MQTT bridge", ["mqtt", "display"]);
    this.#folder = store === ":memory:" ? null : dirname(store);
    this.messages = new BrokerMessages(Date.now, () => this.#settings.now.mqtt !== undefined);
  }

  /** Undefined without a bridge. */
  get status(): MqttStatus | undefined {
    return this.#bridge?.status;
  }

  /**
   * Throws like `startMqtt` for mistakes in settings of the file. Unusable saved settings are reported, and the service
   * runs without a bridge, so that the page where they can be fixed stays reachable.
   */
  async start(shared: Shared, isOfFile: boolean): Promise<void> {
    await this.#open(this.#settings.now, shared).catch((error: unknown) => {
      if (isOfFile || !(error instanceof RigbridgeError)) throw error;
      shared.log.error(`The MQTT bridge did not start: ${error.message}`);
      shared.service.setWarning?.(warningTitle, error.message);
    });
    this.#settings.onChange(async (now, before) => {
      if (isDeepStrictEqual(usedOf(now), usedOf(before))) return;
      await this.#leave();
      if (this.#isClosed) return;
      await this.#open(now, shared);
      if (before.mqtt === undefined || !staysAt(before.mqtt, now.mqtt)) return;
      const hasOtherBase = before.mqtt.base !== now.mqtt?.base;
      if (hasOtherBase || prefixOf(before.mqtt) !== prefixOf(now.mqtt))
        void this.#retract(before.mqtt, !hasOtherBase, shared);
    });
  }

  async close(): Promise<void> {
    this.#isClosed = true;
    await this.#leave();
  }

  async #leave(): Promise<void> {
    this.messages.leave();
    const bridge = this.#bridge;
    this.#bridge = undefined;
    await bridge?.close();
  }

  /** Otherwise Home Assistant would show the entities of the former base or prefix as unavailable forever. */
  async #retract(
    before: MqttSettings & { readonly url: string },
    discoveryOnly: boolean,
    { log }: Shared,
  ): Promise<void> {
    const { retract } = await import("../mqtt/retract.ts");
    try {
      await retract({ settings: before, dryRun: false, discoveryOnly, report: (line) => log.debug(line) });
      log.info(`Removed what was retained at the broker below ${before.base}`);
    } catch (error) {
      const why = error instanceof Error ? error.message : String(error);
      log.warn(`What is retained at the broker below ${before.base} stays there: ${why}`);
    }
  }

  /** MQTT is loaded only where it is configured. */
  async #open({ mqtt: settings, display: { currency } }: Used, shared: Shared): Promise<void> {
    if (settings === undefined) return;
    const { startMqtt } = await import("../mqtt/index.ts");
    const bridge = await startMqtt({ ...shared, settings, version, folder: this.#folder, currency, pair: this.#pair });
    this.#bridge = bridge;
    this.messages.join(bridge.connection);
    shared.service.setWarning?.(warningTitle, null);
  }
}

/** Title of the notification while the bridge cannot start. */
const warningTitle = "MQTT bridge";

/** Whether the bridge stays at the same broker. */
const staysAt = (
  before: MqttSettings,
  now: MqttSettings | undefined,
): before is MqttSettings & { readonly url: string } => before.url !== undefined && before.url === now?.url;

/** Home Assistant's discovery prefix; null: nothing is announced to it. */
const prefixOf = (settings: MqttSettings | undefined): string | null =>
  settings === undefined || settings.homeAssistant === false ? null : homeAssistantSettings(settings).prefix;

const usedOf = ({ mqtt, display: { currency } }: Used) => ({ mqtt, currency });
