import type { API } from "homebridge";
import { platformName, pluginName } from "./names.ts";
import { RigbridgePlatform } from "./platform.ts";

/** What Homebridge calls when it has loaded the plugin. */
export default (api: API): void => api.registerPlatform(pluginName, platformName, RigbridgePlatform);
