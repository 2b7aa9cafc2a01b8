import type { FacilityDeviceState } from "../../contract/resources.ts";
import {
  binarySensor,
  type Component,
  type Components,
  connectivity,
  type DeviceConfig,
  diagnostic,
  energy,
  measurement,
  power,
  sensor,
  temperature,
} from "./component.ts";
import { type DeviceContext, device, facilityId } from "./device.ts";
import type { PreviousComponents } from "./entities.ts";

const figures = {
  power: sensor("power", { name: "Power", ...power, ...measurement }),
  energy: sensor("energy", { name: "Energy", ...energy, state_class: "total_increasing" }),
  voltage: sensor("voltage", { name: "Voltage", device_class: "voltage", unit_of_measurement: "V", ...measurement }),
  current: sensor("current", { name: "Current", device_class: "current", unit_of_measurement: "A", ...measurement }),
  temperature: sensor("temperature", { name: "Temperature", ...temperature }),
} satisfies Partial<Record<keyof FacilityDeviceState["readings"], Component>>;

const quantities = ["power", "energy", "voltage", "current", "temperature"] as const;

/**
 * A device of the building, with a sensor for each reading that it has or had. Its outlets and fans are only shown: rigs
 * are switched at their own devices.
 */
export function facilityConfig(
  { key, name, kind, place, readings, outlets }: FacilityDeviceState,
  previous: PreviousComponents,
  context: DeviceContext,
): DeviceConfig {
  const topics = context.topics.facility(key);
  const components: Record<string, Component> = {};
  for (const quantity of quantities)
    if (readings[quantity] !== null || previous.has(quantity)) components[quantity] = figures[quantity];
  if (readings.on !== null || previous.has("on"))
    components.on = binarySensor("on", { name: "Running", device_class: "running" });
  const switched: Components = Object.fromEntries(
    outlets.map(({ n, miner }) => [
      `outlet_${n}`,
      binarySensor(`outlet_${n}`, {
        name: miner === null ? `Outlet ${n}` : `Outlet ${n} ${miner}`,
        device_class: "power",
      }),
    ]),
  );
  const area = place.at(-1);
  return device(
    {
      id: facilityId(context.base, key),
      info: { name, model: kinds[kind], ...(area === undefined ? {} : { suggested_area: area }) },
      state: topics.state,
      availability: topics.availability,
      components: {
        ...components,
        ...switched,
        problem: sensor("problem", { name: "Problem", icon: "mdi:alert-circle", ...diagnostic }),
        connectivity: connectivity(topics.availability, context.topics.state),
      },
    },
    context,
  );
}

const kinds: Readonly<Record<FacilityDeviceState["kind"], string>> = {
  pdu: "PDU",
  meter: "Meter",
  sensor: "Sensor",
  fan: "Fan",
  cooler: "Cooler",
};
