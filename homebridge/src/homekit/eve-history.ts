import type { CharacteristicValue, HAP, PlatformAccessory, Service } from "homebridge";
import type { Caller, MiningService } from "rigbridge";

/**
 * A rig's power over the last four weeks for the Eve app, which requests it when opened. Nothing is stored here: the
 * entries are the ten-minute means of the service's own history, numbered by their time. Source of the format:
 * https://github.com/simont77/fakegato-history/wiki/Elgato-Eve-History-Protocol; all numbers are little-endian.
 */

/** W at the start of ten minutes (epoch ms). */
export interface PowerPoint {
  readonly at: number;
  readonly watts: number;
}

/** The means of each ten minutes between two times (epoch ms); a gap has no point. */
export type ReadHistory = (minerId: number, from: number, to: number) => Promise<readonly PowerPoint[]>;

/** Day by day: a service refuses to read too many readings at once. */
export const historyReader =
  (service: MiningService, caller: Caller): ReadHistory =>
  async (id, from, to) => {
    const all: PowerPoint[] = [];
    for (let day = from; day < to; day += dayMs) {
      const { points } = await service.getHistory({ id, from: day, to: Math.min(to, day + dayMs), step: 600 }, caller);
      for (const [at, , watts] of points) if (watts !== null) all.push({ at, watts });
    }
    return all;
  };

const dayMs = 86_400_000;
const stepMs = 600_000;
/** Four weeks, as an Eve Energy keeps. */
const entries = 4032;
/** 2001-01-01, Eve's epoch, and 2020-01-01, when entry 0 was, in s. */
const eveEpoch = 978_307_200;
const reference = 1_577_836_800 - eveEpoch;
/** The fields of an entry and their bytes; power is the fourth. */
const signature = Buffer.from("050b020c020d0207020e01", "hex");
const entriesPerRead = 11;

const timeOf = (entry: number): number => (eveEpoch + reference) * 1000 + entry * stepMs;
/** The last entry that is complete. */
const lastEntry = (now: number): number => Math.floor((now - timeOf(0)) / stepMs) - 1;
const firstEntry = (now: number): number => lastEntry(now) - entries + 1;

/** What Eve reads first: which entries there are. */
export function historyStatus(now: number): Buffer {
  const status = Buffer.alloc(37);
  status.writeUInt32LE((lastEntry(now) * stepMs) / 1000, 0);
  status.writeUInt32LE(reference, 8);
  signature.copy(status, 12);
  status.writeUInt16LE(entries, 23);
  status.writeUInt16LE(entries, 25);
  status.writeUInt32LE(firstEntry(now), 27);
  status.writeUInt16LE(0x0101, 35);
  return status;
}

/** The entry that Eve wants to continue with; 0 = the first. */
const requestedEntry = (request: Buffer): number => (request.length < 6 ? 0 : request.readUInt32LE(2));

/** Gives the reference time of the other entries; takes the place of an entry. */
function referenceEntry(entry: number): Buffer {
  const bytes = Buffer.alloc(21);
  bytes.writeUInt8(21, 0);
  bytes.writeUInt32LE(entry, 1);
  bytes.writeUInt8(1, 5);
  bytes.writeUInt8(0x81, 9);
  bytes.writeUInt32LE(reference, 10);
  return bytes;
}

/** Without a reading it has no fields. */
function powerEntry(entry: number, watts: number | undefined): Buffer {
  const bytes = Buffer.alloc(watts === undefined ? 10 : 18);
  bytes.writeUInt8(bytes.length, 0);
  bytes.writeUInt32LE(entry, 1);
  bytes.writeUInt32LE((entry * stepMs) / 1000, 5);
  if (watts === undefined) return bytes;
  bytes.writeUInt8(0b1111, 9);
  // Tenths of W in two bytes: more than 6.5 kW cannot be shown.
  bytes.writeUInt16LE(Math.min(0xffff, Math.max(0, Math.round(watts * 10))), 16);
  return bytes;
}

/**
 * The entries from the requested one (0 = the first) to the last, in the portions that Eve reads one after the other. The
 * first entry of all is the reference.
 */
export function historyPortions(points: readonly PowerPoint[], requested: number, now: number): Buffer[] {
  const watts = new Map(points.map((point) => [point.at, point.watts]));
  const begin = firstEntry(now);
  const first = Math.max(requested, begin);
  const numbers = Array.from({ length: Math.max(0, lastEntry(now) - first + 1) }, (_, index) => first + index);
  const all = numbers.map((entry) =>
    entry === begin ? referenceEntry(entry) : powerEntry(entry, watts.get(timeOf(entry))),
  );
  return Array.from({ length: Math.ceil(all.length / entriesPerRead) }, (_, index) =>
    Buffer.concat(all.slice(index * entriesPerRead, (index + 1) * entriesPerRead)),
  );
}

const uuid = (part: string): string => `E863F${part}-079E-48FF-8F27-9C2605A29F52`;
const end = Buffer.from([0]);

/** The service with which Eve reads the history of one accessory. */
export class EveHistory {
  readonly service: Service;
  readonly #now: () => number;
  /** null while the history cannot be read. */
  #read: ((from: number, to: number) => Promise<readonly PowerPoint[]>) | null = null;
  #portions: Promise<Buffer[]> = Promise.resolve([]);

  constructor(accessory: PlatformAccessory, hap: HAP, now: () => number = Date.now) {
    this.#now = now;
    const type = uuid("007");
    const present = accessory.services.find(({ UUID }) => UUID === type);
    this.service = present ?? accessory.addService(new hap.Service("History", type, "history"));
    const { CurrentAmbientLightLevel, Identify } = hap.Characteristic;
    const reads = new CurrentAmbientLightLevel().props.perms;
    const writes = new Identify().props.perms;
    const characteristic = (name: string, id: string, perms: typeof reads) =>
      this.service.characteristics.find(({ UUID }) => UUID === id) ??
      this.service.addCharacteristic(new hap.Characteristic(name, id, { format: "data", perms: [...perms] }));
    characteristic("History status", uuid("116"), reads).onGet(() => historyStatus(now()).toString("base64"));
    characteristic("History entries", uuid("117"), reads).onGet(async () => {
      const portions = await this.#portions;
      return (portions.shift() ?? end).toString("base64");
    });
    characteristic("History request", uuid("11C"), writes).onSet((value) => this.#request(value));
    // Eve sets the time of its own accessories.
    characteristic("History time", uuid("121"), writes).onSet(() => undefined);
  }

  show(minerId: number, read: ReadHistory): void {
    this.#read = (from, to) => read(minerId, from, to);
  }

  lost(): void {
    this.#read = null;
  }

  /** A history that cannot be read has no entries at present; Eve asks again. */
  #request(value: CharacteristicValue): void {
    const now = this.#now();
    const wanted = requestedEntry(Buffer.from(String(value), "base64"));
    const from = timeOf(Math.max(wanted, firstEntry(now)));
    const points = this.#read?.(from, timeOf(lastEntry(now) + 1)) ?? Promise.resolve(null);
    this.#portions = points.then(
      (all) => (all === null ? [] : historyPortions(all, wanted, now)),
      () => [],
    );
  }
}
