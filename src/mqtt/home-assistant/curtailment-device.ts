import { binarySensor, type DeviceConfig, measurement, number, power, sensor } from "./component.ts";
import { curtailmentId, type DeviceContext, device } from "./device.ts";

const kilowatts = { ...power, unit_of_measurement: "kW" } as const;
const reading = { ...kilowatts, suggested_display_precision: 1, ...measurement } as const;

/** kW: the most that a target over the API may name. */
const mostKilowatts = 1_000_000;

/** The curtailments of the whole service. */
export function curtailmentConfig(context: DeviceContext): DeviceConfig {
  const { base, topics } = context;
  return device(
    {
      id: curtailmentId(base),
      info: { name: "Curtailment", model: "Curtailment" },
      state: topics.curtailment.state,
      availability: null,
      components: {
        active: binarySensor("active", { name: "Active", icon: "mdi:transmission-tower-export" }),
        shed: sensor("shed_kw", { name: "Shed power", ...reading }),
        available: sensor("available_kw", { name: "Available power", ...reading }),
        target: number("target_kw", topics.curtailment.setProperty("target"), {
          name: "Target",
          icon: "mdi:transmission-tower-import",
          ...kilowatts,
          min: 0,
          max: mostKilowatts,
          step: 0.1,
        }),
      },
    },
    context,
  );
}
