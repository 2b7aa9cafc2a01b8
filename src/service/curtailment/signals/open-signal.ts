import type { SignalSettings } from "../../../contract/signal-settings.ts";
import { contactSignal, modbusSignal } from "./modbus-signal.ts";
import { mqttSignal } from "./mqtt-signal.ts";
import { openAdrSignal } from "./openadr-signal.ts";
import { type PeakContext, peakSignal } from "./peak-signal.ts";
import type { SignalSource } from "./signal.ts";

/** Opens the source of a signal; null for a hook, which is not observed but called. */
export function openSignal(settings: SignalSettings, context: PeakContext): SignalSource | null {
  switch (settings.kind) {
    case "mqtt":
      return mqttSignal(settings, context);
    case "modbus":
      return modbusSignal(settings, context);
    case "contact":
      return contactSignal(settings, context);
    case "openadr":
      return openAdrSignal(settings, context);
    case "peak":
      return peakSignal(settings, context);
    case "hook":
      return null;
  }
}
