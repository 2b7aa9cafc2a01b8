/** The names of the plugin and its platform in Homebridge. */
export const pluginName = "homebridge-rigbridge";
export const platformName = "Rigbridge";
