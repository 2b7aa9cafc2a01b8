import { type Logger, pino } from "pino";
import { MqttSettings } from "../../src/config/mqtt.ts";
import type { MiningService } from "../../src/contract/service.ts";
import { type Bridge, type BridgeOptions, startBridge } from "../../src/mqtt/bridge.ts";

/** ms: broker and service restart quickly here. */
export const quick = { firstMs: 20, longestMs: 100 };

export interface LogLine {
  readonly level: number;
  readonly msg: string;
}

/** A log that keeps its lines. */
export function recordingLog(): { readonly log: Logger; readonly lines: LogLine[] } {
  const lines: LogLine[] = [];
  const log: Logger = pino({ level: "info" }, { write: (line: string) => void lines.push(JSON.parse(line)) });
  return { log, lines };
}

const silent: Logger = pino({ level: "silent" });

type Settings = Partial<MqttSettings> & { readonly url: string };

/** A bridge between a service and a broker, with readings at most every second; it may respond at `answers`. */
export async function bridgeTo(
  service: MiningService,
  wanted: Settings,
  options: Partial<Pick<BridgeOptions, "log" | "unitsFile" | "instanceFile" | "claimDelays" | "pair">> = {},
): Promise<Bridge> {
  const settings = { ...MqttSettings.parse({ interval: 1, responseTopics: ["answers"], ...wanted }), url: wanted.url };
  const { log = silent, unitsFile = null } = options;
  return startBridge({ ...options, service, settings, log, version: "test", unitsFile, reconnectDelays: quick });
}
