import {
  createServer,
  request as httpRequest,
  type IncomingMessage,
  type Server,
  type ServerResponse,
} from "node:http";
import { afterAll, beforeAll, expect, test } from "@jest/globals";
import { type Farm, startFarm } from "../../src/simulator/index.ts";
import { until } from "../until.ts";
import { type RunningHomebridge, startHomebridge } from "./homebridge.ts";

const count = 50;
let farm: Farm;
let doors: Doors;
let homebridge: RunningHomebridge;
beforeAll(async () => {
  farm = await startFarm({ rigs: Array.from({ length: count }, () => ({ kind: "axeos", warm: true }) as const) });
  doors = new Doors(count);
  const addresses = await Promise.all(farm.rigs.map(({ port }) => doors.open(port)));
  const rigs = addresses.map((address, index) => ({ address, name: `Rig ${index + 1}`, interval: 2 }));
  homebridge = await startHomebridge({ platform: { name: "Rigbridge", rigs } });
  await until(
    async () => (await homebridge.controller.accessories()).length === count + 1,
    "Homebridge to show every rig and the alarm",
  );
  for (const rig of farm.rigs) rig.fault = { name: "delay", ms: 1_000 };
  // Each has been read once since it became slow.
  doors.watch();
  await until(() => doors.answered.every((methods) => methods.length > 0), "every slow rig to be read once");
});
afterAll(async () => {
  await homebridge.close();
  doors.close();
  await farm.close();
});

test("a scene commands all its slow rigs at once, and each is confirmed by its next answer", async () => {
  const accessories = await homebridge.controller.accessories();
  const outlets = accessories.flatMap(({ services }) =>
    services.filter(({ type }) => type === "outlet").flatMap(({ characteristics }) => characteristics),
  );
  const switches = outlets.filter(({ type }) => type === "on");
  expect(switches).toHaveLength(count);
  doors.watch();
  const statuses = await homebridge.controller.writeAll(switches.map((each) => [each, false] as const));
  expect(statuses.every((status) => status === 0)).toBe(true);
  expect(doors.mostAtOnce).toBe(count);
  // Three answers of a second each: the rig's identity, the switch and its confirmation, whatever was being read when
  // the scene began. A poll that had ended before Homebridge had the scene came before them.
  const around = (methods: readonly string[]): string => {
    const sent = methods.indexOf("POST");
    return methods.slice(Math.max(0, sent - 1), sent + 2).join();
  };
  expect(doors.answered.map(around)).toEqual(Array(count).fill("GET,POST,GET"));
  expect(farm.rigs.every(({ model }) => !model.mining)).toBe(true);
  for (const each of switches) expect((await homebridge.controller.read(each)).value).toBe(0);
});

/** Proxies in front of rigs: writes wait until that many have arrived, reads pass through. */
class Doors {
  readonly #wanted: number;
  /** For each rig the methods answered since `watch`, in the order of the answers. */
  answered: string[][] = [];
  readonly #servers: Server[] = [];
  readonly #waiting = new Set<() => void>();
  mostAtOnce = 0;

  constructor(wanted: number) {
    this.#wanted = wanted;
  }

  watch(): void {
    this.answered = this.#servers.map(() => []);
  }

  async open(port: number): Promise<string> {
    const place = this.#servers.length;
    const server = createServer((request, response) => {
      const answered = this.answered[place];
      response.once("finish", () => answered?.push(request.method ?? ""));
      const pass = () => forward(port, request, response);
      if (request.method === "GET") pass();
      else this.#hold(pass);
    });
    this.#servers.push(server);
    await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
    const address = server.address();
    return `127.0.0.1:${typeof address === "object" && address !== null ? address.port : 0}`;
  }

  close(): void {
    for (const server of this.#servers) {
      server.closeAllConnections();
      server.close();
    }
  }

  #hold(pass: () => void): void {
    this.#waiting.add(pass);
    this.mostAtOnce = Math.max(this.mostAtOnce, this.#waiting.size);
    if (this.#waiting.size < this.#wanted) return;
    for (const each of this.#waiting) each();
    this.#waiting.clear();
  }
}

function forward(port: number, request: IncomingMessage, response: ServerResponse): void {
  const { method, url, headers } = request;
  const onward = httpRequest({ host: "127.0.0.1", port, method, path: url, headers }, (reply) => {
    response.writeHead(reply.statusCode ?? 502, reply.headers);
    reply.pipe(response);
  });
  onward.on("error", () => response.destroy());
  response.once("close", () => onward.destroy());
  request.pipe(onward);
}
