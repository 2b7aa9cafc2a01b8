import type { Command } from "commander";
import type { FacilityDeviceState } from "../contract/resources.ts";
import { type Colour, inColour, isColoured } from "./colours.ts";
import { failing } from "./failure.ts";
import { caller, type ServiceOptions, serviceCommand, withService } from "./service-options.ts";
import { fittedTable } from "./table.ts";

interface FacilityOptions extends ServiceOptions {
  readonly json?: true;
}

export function facilityCommand(): Command {
  return serviceCommand("facility", "rigbridge facility")
    .description("Lists the PDUs, meters, sensors, fans and coolers of a running service.")
    .option("--json", "print the answer of GET /api/facility")
    .action(failing(facility));
}

async function facility({ json, ...options }: FacilityOptions): Promise<void> {
  const devices = await withService(options, (service) => service.listFacility({}, caller));
  if (json) console.log(JSON.stringify(devices, null, 2));
  else if (devices.length === 0) console.log("There are no facility devices; the section facility declares them.");
  else console.log(facilityTable(devices, isColoured(process.stdout)).join("\n"));
}

const heads = ["Device", "Kind", "State", "Age", "Readings", "Problem"];
const [nameColumn, stateColumn, readingsColumn, problemColumn] = [0, 2, 4, 5];
const colours: Partial<Record<string, Colour>> = { silent: "red", implausible: "yellow" };

/** Devices as lines of a table, the heads first, at most 80 columns. */
export function facilityTable(devices: readonly FacilityDeviceState[], coloured: boolean): string[] {
  const rows = devices.map((device) => [
    device.name,
    device.kind,
    device.state,
    device.age === null ? "" : `${device.age} s`,
    readingsText(device),
    device.problem ?? "",
  ]);
  const paint = (cell: string, row: number, column: number): string => {
    const colour = column === stateColumn ? colours[devices[row]?.state ?? ""] : undefined;
    return colour === undefined ? cell : inColour(colour, cell);
  };
  const flexible = [nameColumn, readingsColumn, problemColumn];
  return fittedTable(heads, rows, { flexible, ...(coloured ? { paint } : {}) });
}

function readingsText({ readings, outlets }: FacilityDeviceState): string {
  const { power, energy, voltage, current, temperature, on } = readings;
  const figures = [
    [power, "W", 0],
    [energy, "kWh", 1],
    [voltage, "V", 0],
    [current, "A", 1],
    [temperature, "°C", 1],
  ] as const;
  const known = figures.flatMap(([value, unit, digits]) => (value === null ? [] : `${value.toFixed(digits)} ${unit}`));
  const isOn = outlets.filter((outlet) => outlet.on === true).length;
  return [
    ...(on === null ? [] : [on ? "on" : "off"]),
    ...known,
    ...(outlets.length === 0 ? [] : [`${isOn} of ${outlets.length} outlets on`]),
  ].join(", ");
}
