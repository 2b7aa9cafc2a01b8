import type { Driver, Reading, Rig } from "../../../src/link/driver.ts";
import type { Credentials } from "../../../src/link/link.ts";
import { type Farm, type ProgramSpec, type SimulatedRig, startFarm } from "../../../src/simulator/index.ts";
import { stoppedClock } from "../../clock.ts";
import { onTestFinished } from "../../finished.ts";
import { deadline, rigAt } from "../rigs.ts";
import { http, serve } from "../servers.ts";

/** A virtual program that has run for an hour, and its driver at its address. */
export async function startProgram(
  driver: Driver,
  spec: ProgramSpec,
  credentials: Credentials = {},
): Promise<{ rig: Rig; simulated: SimulatedRig; clock: ReturnType<typeof stoppedClock> }> {
  const clock = stoppedClock();
  const farm: Farm = await startFarm({ rigs: [{ warm: true, ...spec }], clock: clock.now });
  onTestFinished(() => farm.close());
  const [simulated] = farm.rigs;
  if (simulated === undefined) throw new Error("no rig");
  return { rig: rigAt(driver, simulated.address, credentials, clock.now), simulated, clock };
}

/** A program that answers GETs by path with these values as JSON, texts as they are, and the driver at its address. */
export async function answering(
  driver: Driver,
  pages: Readonly<Record<string, unknown>>,
  credentials: Credentials = {},
): Promise<{ rig: Rig; asked: string[] }> {
  const asked: string[] = [];
  const server = await serve((socket, request) => {
    const [method, target = ""] = request.split(" ");
    asked.push(`${method} ${target}`);
    const page = pages[target.split("?", 1)[0] ?? ""];
    const body = typeof page === "string" ? page : JSON.stringify(page);
    socket.end(page === undefined ? http(404, "Not Found") : http(200, body));
  });
  onTestFinished(() => server.close());
  return { rig: rigAt(driver, `127.0.0.1:${server.port}`, credentials), asked };
}

export const read = (rig: Rig): Promise<Reading> => rig.read(deadline());

/** The sum of a figure of its devices. */
export const sumOf = (reading: Reading, key: "hashrate" | "power" | "accepted" | "rejected"): number =>
  reading.devices.reduce((sum, device) => sum + (device[key] ?? 0), 0);
