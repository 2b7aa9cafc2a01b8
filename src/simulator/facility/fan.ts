import { startModbusServer } from "./modbus-server.ts";

export interface VirtualFan {
  readonly address: string;
  readonly on: boolean;
  /** How many times it was written to. */
  readonly written: number;
  /** It accepts what is written and does not start. */
  isStuck: boolean;
  isSilent: boolean;
  /** The exception that its gateway answers to every request; null: none. */
  exception: number | null;
  close(): Promise<void>;
}

/** A fan drive over Modbus TCP: coil 1 starts and stops it, and discrete input 1 says whether it runs. */
export async function startFan(host = "127.0.0.1", isOn = false): Promise<VirtualFan> {
  const fan = { on: isOn, written: 0, isStuck: false, isSilent: false, exception: null as number | null };
  const server = await startModbusServer(
    {
      get answers() {
        return !fan.isSilent;
      },
      get exception() {
        return fan.exception;
      },
      read: (table, address) => (address === 1 && (table === "discrete" || table === "coil") ? Number(fan.on) : null),
      write: (table, address, value) => {
        if (table !== "coil" || address !== 1) return false;
        fan.written += 1;
        if (!fan.isStuck) fan.on = value !== 0;
        return true;
      },
    },
    host,
  );
  return Object.assign(fan, { address: `${host}:${server.port}`, close: server.close });
}
