import type { API } from "homebridge";
import { platformName, pluginName } from "./names.ts";
import { RigbridgePlatform } from "./platform.ts";

/** Homebridge calls this after loading the plugin. */
export default (api: API): void => api.registerPlatform(pluginName, platformName, RigbridgePlatform);
