import type { ModbusDevice, ModbusRegister, ModbusSwitch } from "../../contract/facility-settings.ts";
import { RigbridgeError } from "../../contract/problems.ts";
import { parseAddress } from "../address.ts";
import { type ModbusRequests, modbusTransport } from "../transports/modbus.ts";
import { type FacilityLink, type Measured, rangesWith } from "./facility-link.ts";
import { meters } from "./presets.ts";
import { numberIn, registersOf } from "./registers.ts";

/** A device over Modbus TCP: its registers are read in turn over one connection. */
export function modbusDevice(settings: ModbusDevice): FacilityLink {
  const { host, port } = parseAddress(settings.address);
  const transport = modbusTransport(host, port ?? 502, settings.unit);
  const registers = registersFor(settings);
  const { run } = settings;
  return {
    at: transport.at,
    ranges: rangesWith(registers),
    read: (signal) =>
      transport.use(async (requests) => {
        const values = new Map<Exclude<ModbusRegister["reading"], "on">, Measured>();
        let on: boolean | null = null;
        for (const register of registers) {
          if (register.reading === "on") on = await readsOn(requests, register);
          else values.set(register.reading, await measured(requests, register));
        }
        const says = registers.some(({ reading }) => reading === "on");
        if (run !== undefined && !says) on = await isSwitchedOn(requests, run);
        return { values, on, outlets: [] };
      }, signal),
    ...(run === undefined
      ? {}
      : {
          run: (on: boolean, signal: AbortSignal) =>
            transport.use((requests) => requests.write(run.table, run.address, on ? run.on : run.off), signal),
        }),
    close: () => transport.close(),
  };
}

/** Those of the preset, unless the settings have another for the same reading. */
function registersFor({ preset, registers }: ModbusDevice): readonly ModbusRegister[] {
  const known = preset === undefined ? [] : meters[preset];
  const own = new Set(registers.map(({ reading }) => reading));
  return [...known.filter(({ reading }) => !own.has(reading)), ...registers];
}

const isBit = ({ table }: Pick<ModbusRegister, "table">): boolean => table === "coil" || table === "discrete";

async function measured(requests: ModbusRequests, register: ModbusRegister): Promise<Measured> {
  const { table, address } = register;
  if (isBit(register)) return { value: firstBit(await requests.read(table, address, 1)) ? 1 : 0 };
  try {
    return numberIn(await requests.read(table, address, registersOf(register)), register);
  } catch (error) {
    // The meter does not have this register; the others are still worth reading.
    if (error instanceof RigbridgeError && error.code === "rig.refused")
      return { problem: `was refused: ${error.message}` };
    throw error;
  }
}

async function readsOn(requests: ModbusRequests, register: ModbusRegister): Promise<boolean | null> {
  const { table, address, bit } = register;
  if (isBit(register)) return firstBit(await requests.read(table, address, 1));
  const bytes = await requests.read(table, address, registersOf(register));
  if (bit !== undefined) return (bytes.readUInt16BE() & (1 << bit)) !== 0;
  const number = numberIn(bytes, register);
  return "value" in number ? number.value !== 0 : null;
}

/** As the register that switches it says; null for a value that is neither. */
async function isSwitchedOn(
  requests: ModbusRequests,
  { table, address, on, off }: ModbusSwitch,
): Promise<boolean | null> {
  const bytes = await requests.read(table, address, 1);
  if (table === "coil") return firstBit(bytes);
  const value = bytes.readUInt16BE();
  return value === on ? true : value === off ? false : null;
}

const firstBit = (bytes: Buffer): boolean => ((bytes[0] ?? 0) & 1) === 1;
