import type { FacilityDevice } from "../../contract/facility-settings.ts";
import type { FacilityContext, FacilityLink } from "./facility-link.ts";
import { httpJsonDevice } from "./http-json.ts";
import { modbusDevice } from "./modbus.ts";
import { mqttDevice } from "./mqtt.ts";
import { shellyDevice } from "./shelly.ts";
import { snmpDevice } from "./snmp.ts";

/** Opens no connection; a device over MQTT is subscribed to from now on. Throws `input.invalid` for a bad address. */
export function openDevice(settings: FacilityDevice, context: FacilityContext): FacilityLink {
  switch (settings.driver) {
    case "modbus":
      return modbusDevice(settings);
    case "snmp":
      return snmpDevice(settings);
    case "shelly":
      return shellyDevice(settings);
    case "mqtt":
      return mqttDevice(settings, context);
    case "http-json":
      return httpJsonDevice(settings);
  }
}
