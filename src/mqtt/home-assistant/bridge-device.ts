import { logLevels } from "../../config/log-levels.ts";
import { button, connectivity, type DeviceConfig, diagnostic, select } from "./component.ts";
import { bridgeId, type DeviceContext, device } from "./device.ts";

const config = { entity_category: "config" } as const;

/** The commands that the bridge accepts for itself. */
interface BridgeAbilities {
  readonly canCommand: boolean;
  readonly canRestart: boolean;
}

/** The device of the bridge itself. */
export function bridgeConfig({ canCommand, canRestart }: BridgeAbilities, context: DeviceContext): DeviceConfig {
  const { base, topics, version } = context;
  const { bridge } = topics;
  return device(
    {
      id: bridgeId(base),
      info: { name: "Rigbridge", model: "MQTT bridge", sw_version: version },
      state: topics.info,
      availability: null,
      components: {
        // Stays available while the bridge is offline: it shows that state.
        connection: { ...connectivity(topics.state, topics.state), availability: [] },
        version: {
          platform: "sensor",
          name: "Version",
          icon: "mdi:tag",
          value_template: "{{ value_json.version }}",
          ...diagnostic,
        },
        ...(canCommand
          ? {
              log_level: select("log_level", bridge.logLevel, {
                name: "Log level",
                icon: "mdi:text-box-search",
                options: logLevels,
                ...config,
              }),
            }
          : {}),
        ...(canCommand && canRestart
          ? { restart: button(bridge.action, "restart", { name: "Restart", device_class: "restart", ...config }) }
          : {}),
      },
    },
    context,
  );
}
