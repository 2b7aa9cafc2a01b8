import { z } from "zod";
import { freePort } from "../free-port.ts";
import { Child } from "./child.ts";
import type { FarmSettings } from "./farm.ts";
import type { ServiceSettings } from "./service.ts";

const SimulatedRig = z.object({ address: z.string(), kind: z.string(), token: z.string().nullable() });
export type SimulatedRig = z.infer<typeof SimulatedRig>;

export interface Farm {
  readonly rigs: readonly SimulatedRig[];
  /** Requests that it got so far. */
  requests(): Promise<number>;
  /** µs of CPU so far. */
  cpu(): Promise<number>;
  end(): Promise<void>;
}

/** The simulator in a process of its own. */
export async function startFarm(count: number, more: Partial<FarmSettings> = {}): Promise<Farm> {
  const { kinds = ["cgminer"], silentOfTen = 0, stampedSince = null, switching = false } = more;
  const ports = await Promise.all(kinds.map(freePort));
  const child = new Child("farm.ts");
  const settings: FarmSettings = { count, kinds, ports, silentOfTen, stampedSince, switching };
  const rigs = await child.ask(z.array(SimulatedRig), "start", settings);
  const requests = () => child.ask(z.number(), "requests");
  return { rigs, requests, cpu: () => child.cpu(), end: () => child.end() };
}

/** ms to wait for every rig. */
const patience = 180_000;

/** The service in a process of its own, with the heap that the systemd unit and the image give it. */
export class Service {
  readonly child = new Child("service.ts", ["--expose-gc", "--max-semi-space-size=4"]);
  url = "";

  async start(rigs: readonly SimulatedRig[], more: Partial<ServiceSettings> = {}): Promise<void> {
    const miners = rigs.map(({ address, token }) => ({ address, token }));
    const settings: ServiceSettings = {
      miners,
      interval: 10,
      key: null,
      file: null,
      database: null,
      mqtt: null,
      rules: [],
      workers: null,
      ...more,
    };
    this.url = await this.child.ask(z.string(), "start", settings);
  }

  /** Until so many rigs have been read so often; samples are written every 5 s. */
  async readBy(rigs: number, times: number): Promise<void> {
    const unread = rigs - (await this.readWithin(patience, rigs, times));
    if (unread > 0) throw new Error(`${unread} of ${rigs} rigs were not read ${times} times in 180 s`);
  }

  /** The same, but ms at most; how many were. */
  readWithin(ms: number, rigs: number, times: number): Promise<number> {
    return this.#enough(() => this.#readAtLeast(times), rigs, ms);
  }

  /** Until so many rigs are shown as running, or ms have passed; how many are. */
  shownWithin(ms: number, rigs: number): Promise<number> {
    return this.#enough(() => this.child.ask(z.number(), "shown"), rigs, ms);
  }

  async #enough(count: () => Promise<number>, rigs: number, ms: number): Promise<number> {
    const until = performance.now() + ms;
    for (;;) {
      const found = await count();
      if (found >= rigs || performance.now() > until) return found;
      await wait(200);
    }
  }

  /** Until all have been read once, where the schedule comes round too rarely for one that was missed. */
  async readAll(rigs: number): Promise<void> {
    const until = performance.now() + patience;
    for (let last = 0; ; ) {
      const read = await this.#readAtLeast(1);
      if (read >= rigs) return;
      if (performance.now() > until) throw new Error(`${rigs - read} of ${rigs} rigs were not read in 180 s`);
      if (read > 0 && read === last) await this.child.tell("readRest");
      last = read;
      await wait(6_000);
    }
  }

  #readAtLeast(times: number): Promise<number> {
    return this.child.ask(z.number(), "readAtLeast", times);
  }

  /** µs of CPU while the time passes, and how long that was. */
  async watched(seconds: number): Promise<{ cpu: number; seconds: number }> {
    const before = await this.child.cpu();
    const began = performance.now();
    await wait(1000 * seconds);
    const cpu = (await this.child.cpu()) - before;
    return { cpu, seconds: (performance.now() - began) / 1000 };
  }

  async stop(): Promise<void> {
    await this.child.tell("stop");
  }

  async end(): Promise<void> {
    await this.child.end();
  }
}

export const wait = (ms: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, ms));
