import { createServer } from "node:http";
import { MeterModel } from "./meter-model.ts";
import { type MeterOptions, meterOver, type VirtualMeter } from "./modbus-meter.ts";

/** A Shelly Pro 3EM: Shelly.GetStatus over HTTP. JSON has no NaN, so it sends null, and no byte order. */
export async function startShellyEm(options: MeterOptions): Promise<VirtualMeter> {
  const model = new MeterModel(options.rigs, options.clock ?? Date.now, options.base);
  let requests = 0;
  const { address, close } = await startJson(options.host, (path) => {
    requests += 1;
    if (model.fault === "silent") return undefined;
    if (path === "/shelly") return { id: "shellypro3em-025150000010", mac: "025150000010", gen: 2, app: "Pro3EM" };
    if (path !== "/rpc/Shelly.GetStatus") return null;
    const { power, energy, voltage, current } = model.figures();
    const third = { a_act_power: power / 3, b_act_power: power / 3, c_act_power: power / 3 };
    return {
      "em:0": { id: 0, a_voltage: voltage, total_current: current, total_act_power: power, ...third },
      "emdata:0": { id: 0, total_act: energy * 1000, total_act_ret: 0 },
      "temperature:0": { id: 0, tC: 41.2, tF: 106.2 },
    };
  });
  return meterOver(model, address, () => requests, close);
}

/** A server of JSON: null is "not found", undefined no answer at all. */
export async function startJson(
  host = "127.0.0.1",
  answer: (path: string) => unknown,
): Promise<{ readonly address: string; close(): Promise<void> }> {
  const server = createServer((request, response) => {
    const body = answer(request.url ?? "/");
    if (body === undefined) return;
    const status = body === null ? 404 : 200;
    response.writeHead(status, { "content-type": "application/json" }).end(JSON.stringify(body));
  });
  await new Promise<void>((resolve, reject) => {
    server.once("error", reject);
    server.listen(0, host, resolve);
  });
  const address = server.address();
  return {
    address: `${host}:${typeof address === "object" && address !== null ? address.port : 0}`,
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
}
