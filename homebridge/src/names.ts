/** As Homebridge knows the plugin and its platform. */
export const pluginName = "homebridge-rigbridge";
export const platformName = "Rigbridge";
