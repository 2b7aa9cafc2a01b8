import { RigbridgeError } from "../../../contract/problems.ts";
import type { ControlKey, Identity } from "../../../contract/readings.ts";
import type { DeviceReading, Driver, PoolControls, Reading, Rig, Signs } from "../../driver.ts";
import type { Link } from "../../link.ts";
import { Notes, TolerantReader } from "../../tolerant-reader.ts";
import { garbled } from "../../transports/limits.ts";
import type { RpcTransport } from "../../transports/rpc.ts";
import { total, uptimeSince } from "../shared/figures.ts";
import { type CardFields, cardFigures, gpuDevice } from "../shared/gpu-device.ts";
import { type ProgramReport, programPool, readingOf } from "../shared/program.ts";

/**
 * miniZ. Its telemetry is off without --telemetry, has no login and controls nothing. One port answers a line of JSON
 * with JSON after the head of a reply over HTTP (without it if started with --nohttpheaders), and browsers with a page.
 * Source: readers in other managers.
 */
export const miniz: Driver = {
  id: "miniz",
  name: "miniZ",
  evidence: { readings: "other source", controls: "other source" },
  ports: [20_000],
  recognise: (signs) => recognise(signs),
  connect: (link) => new MinizRig(link),
};

/** By its page. */
const recognise = ({ root, port }: Signs): Partial<Identity> | undefined =>
  port !== undefined && root !== null && /\bminiZ\b/.test(root.body) ? { make: "miniZ" } : undefined;

const request = { id: "0", method: "getstat" } as const;

class MinizRig implements Rig {
  readonly quick = true;
  readonly pools: PoolControls = {};
  readonly #rpc: RpcTransport;
  readonly #now: () => number;

  constructor({ rpc, now }: Pick<Link, "rpc" | "now">) {
    this.#rpc = rpc;
    this.#now = now;
  }

  async read(signal: AbortSignal): Promise<Reading> {
    const { value, notes: repairs } = await this.#rpc.ask(request, signal, "head");
    const notes = new Notes();
    notes.addAll(repairs);
    const reply = new TolerantReader(value, notes, "");
    if (!reply.isList("result")) throw garbled(this.#rpc.at, "the reply is not that of miniZ");
    return readingOf(report(reply, this.#now()), notes);
  }

  async set(key: ControlKey): Promise<string> {
    throw new RigbridgeError("control.absent", `This program is read only; it does not offer "${key}"`);
  }

  close(): void {
    this.#rpc.close();
  }
}

/**
 * Equihash is named by its parameters: "144,5". Rates are in Sol/s, or in H/s where that is the algorithm's unit.
 * `now`: epoch ms.
 */
function report(reply: TolerantReader, now: number): ProgramReport {
  const devices = reply.list("result").map(cardOf);
  return {
    software: "MiniZ",
    make: "miniZ",
    version: reply.text("version")?.replace(/^miniZ\s*v?/i, "") || null,
    readings: {
      algorithm: reply.text("algorithm")?.replace(/^(\d{2,3}),(\d{1,2})$/, "Equihash $1/$2") ?? null,
      uptime: uptimeSince(reply.number("start_time", { absent: 0 }), now),
    },
    devices,
    pools: programPool({
      url: reply.text("current_server", 255),
      worker: reply.text("current_user", 255),
      accepted: total(devices.map(({ accepted }) => accepted)),
      rejected: total(devices.map(({ rejected }) => rejected)),
    }),
  };
}

const fields = {
  hashrate: "speed_sps",
  temperature: "temperature",
  fanPercent: "gpu_fan_speed",
  power: "gpu_power_usage",
  clock: "gpu_clock_core_max",
  memoryClock: "gpu_clock_memory",
  accepted: "accepted_shares",
  rejected: "rejected_shares",
  bus: "busid",
} satisfies CardFields;

/** gpu_status: 2 is a card that mines. */
const cardOf = (card: TolerantReader, position: number): DeviceReading =>
  gpuDevice({
    name: card.text("name") ?? `GPU ${position}`,
    status: (card.integer("gpu_status") ?? 2) === 2 ? "enabled" : "disabled",
    ...cardFigures(card, fields),
  });
