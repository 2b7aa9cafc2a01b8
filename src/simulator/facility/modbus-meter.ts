import type { SimulatedRig } from "../simulated-rig.ts";
import { type MeterFault, MeterModel } from "./meter-model.ts";
import { startModbusServer } from "./modbus-server.ts";

export interface MeterOptions {
  /** The rigs behind it. */
  readonly rigs: readonly SimulatedRig[];
  /** W of other consumers; default 0. */
  readonly base?: number;
  /** Default 127.0.0.1. */
  readonly host?: string;
  /** Epoch ms; by default the machine's clock. */
  readonly clock?: () => number;
}

export interface VirtualMeter {
  readonly address: string;
  /** W of other consumers. */
  base: number;
  fault: MeterFault | null;
  /** kWh counted until now; it counts with each look, as if the power since the last one had been that of now. */
  readonly energy: number;
  /** How many requests it has received. */
  readonly requests: number;
  close(): Promise<void>;
}

/** Input registers of an Eastron SDM630, floats with the high word first. */
const registers = { voltage: 0x0000, current: 0x0006, power: 0x0034, energy: 0x0048 } as const;

/** A meter over Modbus TCP with the registers of an Eastron SDM630. */
export async function startModbusMeter(options: MeterOptions): Promise<VirtualMeter> {
  const model = new MeterModel(options.rigs, options.clock ?? Date.now, options.base);
  const host = options.host ?? "127.0.0.1";
  const server = await startModbusServer(
    {
      get answers() {
        return model.fault !== "silent";
      },
      read: (table, address) => {
        if (table !== "input") return null;
        const figures = model.figures();
        for (const quantity of ["voltage", "current", "power", "energy"] as const) {
          const word = address - registers[quantity];
          if (word === 0 || word === 1) {
            const bytes = Buffer.alloc(4);
            bytes.writeFloatBE(figures[quantity]);
            return bytes.readUInt16BE(model.fault === "swapped" ? 2 - 2 * word : 2 * word);
          }
        }
        return null;
      },
      write: () => false,
    },
    host,
  );
  return meterOver(model, `${host}:${server.port}`, () => server.requests.length, server.close);
}

/** The handle of a meter for tests and farms. */
export const meterOver = (
  model: MeterModel,
  address: string,
  requests: () => number,
  close: () => Promise<void>,
): VirtualMeter => ({
  address,
  get base() {
    return model.base;
  },
  set base(watts) {
    model.base = watts;
  },
  get fault() {
    return model.fault;
  },
  set fault(fault) {
    model.fault = fault;
  },
  get energy() {
    return model.figures().energy;
  },
  get requests() {
    return requests();
  },
  close,
});
