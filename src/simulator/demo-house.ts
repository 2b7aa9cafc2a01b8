import { createServer, type Server } from "node:http";
import type { Farm } from "./farm.ts";
import type { SimulatedRig } from "./simulated-rig.ts";

/** The house of the demo: what its thermometer and the meter of its roof show, and a rig beside a radiator. */
export interface DemoHouse {
  /** Answers with `{"bathroom": <°C>, "export": <W>}`. */
  readonly url: string;
  close(): Promise<void>;
}

const minuteMs = 60_000;
/** Of a bathroom that loses its warmth fast, so that a visitor sees it heat and cool. */
const room = { outside: 12, perWatt: 0.008, timeConstantMs: 8 * minuteMs };
/** W. Clouds come and go. */
const roof = { mean: 4200, swing: 3000, periodMs: 18 * minuteMs, household: 450 };
/** The radiator is on for the last part of each period. */
const radiator = { celsius: 50, onMs: 2 * minuteMs, periodMs: 7 * minuteMs };
const usualAmbient = 25;

/** The rigs of the demo farm that its house has to do with. */
export const houseRigs = { heater: "bathroom-heater", sun: "barn-m50s", atRadiator: "bitaxe-shelf" };

/** Nothing happens between two requests: each brings the house up to the time of the clock (epoch ms). */
export async function startDemoHouse({ rigs }: Farm, now: () => number = Date.now): Promise<DemoHouse> {
  const begin = now();
  let at = begin;
  let celsius = 19.5;
  const named = (name: string): SimulatedRig | undefined => rigs.find((rig) => rig.name === name);
  const powerOf = (name: string): number => {
    const rig = named(name);
    if (rig === undefined || !rig.powered) return 0;
    rig.model.advance();
    return rig.model.power;
  };
  const advance = (): void => {
    const time = now();
    const goal = room.outside + room.perWatt * powerOf(houseRigs.heater);
    celsius += (goal - celsius) * (1 - Math.exp(-(time - at) / room.timeConstantMs));
    at = time;
    const shelf = named(houseRigs.atRadiator);
    const isOn = (time - begin) % radiator.periodMs >= radiator.periodMs - radiator.onMs;
    if (shelf !== undefined) shelf.model.ambient = isOn ? radiator.celsius : usualAmbient;
  };
  const surplus = (): number => {
    const sun = roof.mean + roof.swing * Math.sin((2 * Math.PI * (at - begin)) / roof.periodMs);
    return sun - roof.household - powerOf(houseRigs.sun);
  };
  const server = createServer((_request, response) => {
    advance();
    const values = { bathroom: Number(celsius.toFixed(2)), export: Math.round(surplus()) };
    response.writeHead(200, { "content-type": "application/json" }).end(JSON.stringify(values));
  });
  return { url: `http://127.0.0.1:${await listening(server)}/`, close: () => closed(server) };
}

const listening = (server: Server): Promise<number> =>
  new Promise((resolve, reject) => {
    server.once("error", reject);
    server.listen(0, "127.0.0.1", () => {
      const address = server.address();
      if (address !== null && typeof address === "object") resolve(address.port);
    });
  });

const closed = (server: Server): Promise<void> =>
  new Promise((resolve) => {
    server.close(() => resolve());
    server.closeAllConnections();
  });
