import type { FacilityDeviceState } from "../contract/resources.ts";
import type { Caller, MiningService } from "../contract/service.ts";
import type { Family, Labels, Metric, Value } from "./exposition.ts";

interface DeviceMetric extends Metric {
  readonly read: (device: FacilityDeviceState) => Value;
}

const joulesPerKwh = 3_600_000;
const times = (value: number | null, factor: number): number | null => (value === null ? null : value * factor);
const gauge = (name: string, help: string, read: DeviceMetric["read"]): DeviceMetric => ({
  name: `rigbridge_facility_${name}`,
  type: "gauge",
  help,
  read,
});

const metrics: readonly DeviceMetric[] = [
  gauge("up", "1 if the last read of a device was good and believed.", ({ state }) => state === "ok"),
  gauge("age_seconds", "Time since a device was last read.", ({ age }) => age),
  gauge("power_watts", "Power of a device.", ({ readings }) => readings.power),
  {
    ...gauge("energy_joules_total", "Energy counter of a device.", ({ readings }) =>
      times(readings.energy, joulesPerKwh),
    ),
    type: "counter",
  },
  gauge("voltage_volts", "Voltage of a device.", ({ readings }) => readings.voltage),
  gauge("current_amperes", "Current of a device.", ({ readings }) => readings.current),
  gauge("temperature_celsius", "Temperature of a device.", ({ readings }) => readings.temperature),
  gauge("on", "1 if a device runs.", ({ readings }) => readings.on),
  gauge("rigs_power_watts", "Power that the rigs behind a device report together.", ({ rigs }) => rigs?.power ?? null),
  gauge("rigs_unknown", "Rigs behind a device whose power is unknown.", ({ rigs }) => rigs?.unknown ?? null),
];

const outletOn: Metric = { name: "rigbridge_facility_outlet_on", type: "gauge", help: "1 if an outlet is on." };
const outletPower: Metric = {
  name: "rigbridge_facility_outlet_power_watts",
  type: "gauge",
  help: "Power of an outlet.",
};

const labelsOf = ({ key, name, kind }: FacilityDeviceState): Labels => ({ device: key, name, kind });

/** The metrics of the facility devices that a caller sees; none for a service without any. */
export async function facilityFamilies(service: MiningService, caller: Caller): Promise<readonly Family[]> {
  if (!(await service.features()).has("listFacility")) return [];
  const devices = await service.listFacility({}, caller);
  if (devices.length === 0) return [];
  const outlets = devices.flatMap((device) =>
    device.outlets.map((outlet) => ({ labels: { ...labelsOf(device), outlet: String(outlet.n) }, outlet })),
  );
  return [
    ...metrics.map(({ read, ...metric }) => ({
      metric,
      samples: devices.map((device) => [labelsOf(device), read(device)] as const),
    })),
    { metric: outletOn, samples: outlets.map(({ labels, outlet }) => [labels, outlet.on] as const) },
    { metric: outletPower, samples: outlets.map(({ labels, outlet }) => [labels, outlet.power] as const) },
  ];
}
