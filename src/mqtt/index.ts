import { join } from "node:path";
import type { MqttSettings } from "../config/mqtt.ts";
import { type Bridge, type BridgeOptions, startBridge } from "./bridge.ts";

export { MqttSettings } from "../config/mqtt.ts";
export { type Bridge, type BridgeOptions, type PairOfBridges, startBridge } from "./bridge.ts";

export interface MqttOptions extends Omit<BridgeOptions, "settings" | "unitsFile" | "instanceFile"> {
  readonly settings: MqttSettings;
  /** Folder for files that outlive the process; null: none. */
  readonly folder: string | null;
}

/**
 * Starts the bridge, preceded by the embedded broker if the settings ask for one. Throws `config.invalid` if a
 * certificate cannot be read, and like `startBroker`.
 */
export async function startMqtt(options: MqttOptions): Promise<Bridge> {
  const { settings, log, folder } = options;
  const unitsFile = folder === null ? null : join(folder, "rigbridge-units.json");
  const instanceFile = folder === null ? null : join(folder, "rigbridge-instance");
  const bridgeAt = (url: string) =>
    startBridge({ ...options, unitsFile, instanceFile, settings: { ...settings, url } });
  if (settings.url !== undefined) return bridgeAt(settings.url);
  const { startBroker } = await import("./broker.ts");
  const broker = await startBroker({ settings, log });
  try {
    const bridge = await bridgeAt(broker.url);
    const close = async (): Promise<void> => {
      await bridge.close();
      await broker.close();
    };
    return {
      connection: bridge.connection,
      ended: bridge.ended,
      close,
      get status() {
        return bridge.status;
      },
    };
  } catch (error) {
    await broker.close();
    throw error;
  }
}
