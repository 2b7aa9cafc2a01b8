import { startJson } from "./shelly-em.ts";

export interface VirtualSensor {
  /** Of its JSON: `{"sensors": [{"temperature": 24.5}]}`. */
  readonly url: string;
  /** °C; null: it has no value. */
  temperature: number | null;
  isSilent: boolean;
  close(): Promise<void>;
}

/** A temperature sensor that answers with JSON over HTTP. */
export async function startSensor(host?: string): Promise<VirtualSensor> {
  const state = { temperature: 24.5 as number | null, isSilent: false };
  const { address, close } = await startJson(host, (path) => {
    if (state.isSilent) return undefined;
    return path === "/state" ? { sensors: [{ temperature: state.temperature }] } : null;
  });
  return Object.assign(state, { url: `http://${address}/state`, close });
}
