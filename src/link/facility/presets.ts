import type { MeterPreset, ModbusRegister, PduPreset } from "../../contract/facility-settings.ts";

const register = (
  reading: ModbusRegister["reading"],
  table: ModbusRegister["table"],
  address: number,
  type: ModbusRegister["type"],
  scale = 1,
  order: ModbusRegister["order"] = "abcd",
): ModbusRegister => ({ reading, table, address, type, order, scale });

/** Registers of meters: voltage and current of the first phase, total power, imported energy. Sources: docs/facility.md. */
export const meters: Readonly<Record<MeterPreset, readonly ModbusRegister[]>> = {
  sdm630: [
    register("voltage", "input", 0x0000, "f32"),
    register("current", "input", 0x0006, "f32"),
    register("power", "input", 0x0034, "f32"),
    register("energy", "input", 0x0048, "f32"),
  ],
  "abb-b": [
    register("voltage", "holding", 0x5b00, "u32", 0.1),
    register("current", "holding", 0x5b0c, "u32", 0.01),
    register("power", "holding", 0x5b14, "s32", 0.01),
    register("energy", "holding", 0x5000, "u64", 0.01),
  ],
  // It counts what is drawn as negative power.
  "abb-m4m": [
    register("voltage", "holding", 0x5b00, "u32", 0.1),
    register("current", "holding", 0x5b0c, "u32", 0.01),
    register("power", "holding", 0x5b14, "s32", -1),
    register("energy", "holding", 0x5000, "u64", 0.01),
  ],
  // Power in kW, energy in Wh.
  iem3000: [
    register("voltage", "holding", 0x0bd3, "f32"),
    register("current", "holding", 0x0bb7, "f32"),
    register("power", "holding", 0x0bf3, "f32", 1000),
    register("energy", "holding", 0x0c83, "s64", 0.001),
  ],
  p3u30: [register("power", "holding", 2022, "s16", 1000)],
  // Without energy, whose unit its sources leave open.
  "janitza-b": [
    register("voltage", "holding", 0x4a38, "f32"),
    register("current", "holding", 0x4a44, "f32"),
    register("power", "holding", 0x4a52, "f32"),
  ],
  em24: [
    register("voltage", "input", 0x00, "s32", 0.1, "cdab"),
    register("current", "input", 0x0c, "s32", 0.001, "cdab"),
    register("power", "input", 0x28, "s32", 0.1, "cdab"),
    register("energy", "input", 0x34, "s32", 0.1, "cdab"),
  ],
};

/** A column of the table of outlets, to which the outlet's number is added, and its values for on and off. */
interface OutletColumn {
  readonly oid: string;
  readonly on: number;
  readonly off: number;
}

export interface Pdu {
  readonly state: OutletColumn;
  /** Where a switched outlet is written; a PDU may have one column for each direction. */
  readonly switchOn: { readonly oid: string; readonly value: number };
  readonly switchOff: { readonly oid: string; readonly value: number };
  /** Column of the W of each outlet. */
  readonly outletPower?: string;
  readonly readings: readonly PduReading[];
}

export interface PduReading {
  readonly reading: "power" | "energy" | "voltage" | "current";
  readonly oid: string;
  readonly scale: number;
  /** OID of the number of decimal digits, where the PDU has them in a table of its own. */
  readonly digits?: string;
}

const raritan = "1.3.6.1.4.1.13742.6";
const inlet = (reading: PduReading["reading"], sensor: number, scale = 1): PduReading => ({
  reading,
  oid: `${raritan}.5.2.3.1.4.1.1.${sensor}`,
  scale,
  digits: `${raritan}.3.3.4.1.7.1.1.${sensor}`,
});
const apc = "1.3.6.1.4.1.318.1.1.12";
const eaton = "1.3.6.1.4.1.534.6.6.7";
const sentry = "1.3.6.1.4.1.1718.4.1";

/** PDUs by their MIBs, the first unit of a chain. Sources: docs/facility.md. */
export const pdus: Readonly<Record<PduPreset, Pdu>> = {
  // PDU2-MIB: inlet 1; sensors 1 = RMS current, 4 = RMS voltage, 5 = active power, 8 = active energy in Wh.
  "raritan-px": {
    state: { oid: `${raritan}.4.1.2.1.3.1`, on: 7, off: 8 },
    switchOn: { oid: `${raritan}.4.1.2.1.2.1`, value: 1 },
    switchOff: { oid: `${raritan}.4.1.2.1.2.1`, value: 0 },
    readings: [inlet("current", 1), inlet("voltage", 4), inlet("power", 5), inlet("energy", 8, 0.001)],
  },
  // PowerNet-MIB: rPDUOutletStatusOutletState, rPDUOutletControlOutletCommand, rPDUIdentDevicePowerWatts.
  "apc-rpdu": {
    state: { oid: `${apc}.3.5.1.1.4`, on: 1, off: 2 },
    switchOn: { oid: `${apc}.3.3.1.1.4`, value: 1 },
    switchOff: { oid: `${apc}.3.3.1.1.4`, value: 2 },
    readings: [
      { reading: "current", oid: `${apc}.2.3.1.1.2.1`, scale: 0.1 },
      { reading: "power", oid: `${apc}.1.16.0`, scale: 1 },
    ],
  },
  // EATON-EPDU-MIB: outletControlStatus; outletControlOnCmd and OffCmd take the seconds to wait.
  "eaton-epdu": {
    state: { oid: `${eaton}.6.6.1.2.0`, on: 1, off: 0 },
    switchOn: { oid: `${eaton}.6.6.1.4.0`, value: 0 },
    switchOff: { oid: `${eaton}.6.6.1.3.0`, value: 0 },
    outletPower: `${eaton}.6.5.1.3.0`,
    readings: [],
  },
  // Sentry4-MIB: st4OutletState, st4OutletControlAction, st4OutletActivePower; unit 1, cord 1.
  sentry4: {
    state: { oid: `${sentry}.8.3.1.1.1.1`, on: 1, off: 2 },
    switchOn: { oid: `${sentry}.8.5.1.2.1.1`, value: 1 },
    switchOff: { oid: `${sentry}.8.5.1.2.1.1`, value: 2 },
    outletPower: `${sentry}.8.3.1.7.1.1`,
    readings: [],
  },
};
