import type { Board, Identity, RigReadings } from "../../../contract/readings.ts";
import { unknownReadings } from "../../../contract/readings.ts";
import type { DeviceReading, Halt, PoolReading } from "../../driver.ts";
import { unknownIdentity } from "../../identity.ts";
import type { TolerantReader } from "../../tolerant-reader.ts";
import { boardDevice } from "../shared/board-device.ts";

/** What one read over one of a rig's protocols brings. */
export interface Snapshot {
  readonly identity: Identity;
  readonly readings: RigReadings;
  readonly pools: readonly PoolReading[];
  /** Switched on; null where it is not reported. */
  readonly wanted: boolean | null;
  /** It reports that it is starting to mine. */
  readonly starting: boolean;
  /** Why it stopped without being told to. */
  readonly halt?: Halt | undefined;
  /** Boards that are switched off. */
  readonly off: ReadonlySet<number>;
  /** Seconds over which the hash rate is averaged. */
  readonly logInterval: number | null;
}

export const emptySnapshot: Snapshot = {
  identity: unknownIdentity,
  readings: unknownReadings(),
  pools: [],
  wanted: null,
  starting: false,
  off: new Set(),
  logInterval: null,
};

/** Two snapshots of one rig; where both have a value, the first counts. */
export function merged(first: Snapshot, second: Snapshot): Snapshot {
  const { identity, readings: one } = first;
  const two = second.readings;
  return {
    identity: {
      make: identity.make ?? second.identity.make,
      model: identity.model ?? second.identity.model,
      firmware: identity.firmware ?? second.identity.firmware,
      mac: identity.mac ?? second.identity.mac,
      hostname: identity.hostname ?? second.identity.hostname,
      serial: identity.serial ?? second.identity.serial,
    },
    readings: {
      hashrate: one.hashrate ?? two.hashrate,
      hashrateAverage: one.hashrateAverage ?? two.hashrateAverage,
      hashrateExpected: one.hashrateExpected ?? two.hashrateExpected,
      algorithm: one.algorithm ?? two.algorithm,
      dual: one.dual ?? two.dual,
      proxy: one.proxy ?? two.proxy,
      power: one.power ?? two.power,
      powerLimit: one.powerLimit ?? two.powerLimit,
      powerSource: one.powerSource ?? two.powerSource,
      temperature: one.temperature ?? two.temperature,
      temperatureIn: one.temperatureIn ?? two.temperatureIn,
      temperatureOut: one.temperatureOut ?? two.temperatureOut,
      boards: boardsTogether(one.boards, two.boards),
      fans: one.fans.length > 0 ? one.fans : two.fans,
      psu: one.psu ?? two.psu,
      uptime: one.uptime ?? two.uptime,
      mining: one.mining ?? two.mining,
      mode: one.mode ?? two.mode,
      locate: one.locate ?? two.locate,
      bestShare: one.bestShare ?? two.bestShare,
      foundBlocks: one.foundBlocks ?? two.foundBlocks,
      shares: {
        accepted: one.shares.accepted ?? two.shares.accepted,
        rejected: one.shares.rejected ?? two.shares.rejected,
        hardwareErrors: one.shares.hardwareErrors ?? two.shares.hardwareErrors,
      },
      errors: one.errors.length > 0 ? one.errors : two.errors,
      notes: [],
    },
    pools: first.pools.length > 0 ? first.pools : second.pools,
    wanted: first.wanted ?? second.wanted,
    starting: first.starting || second.starting,
    halt: first.halt ?? second.halt,
    off: new Set([...first.off, ...second.off]),
    logInterval: first.readings.hashrate === null ? second.logInterval : first.logInterval,
  };
}

function boardsTogether(first: readonly Board[], second: readonly Board[]): Board[] {
  if (first.length === 0) return [...second];
  return first.map((one) => {
    const two = second.find(({ slot }) => slot === one.slot);
    return two === undefined ? one : filled(one, two);
  });
}

const filled = (one: Board, two: Board): Board => ({
  slot: one.slot,
  hashrate: one.hashrate ?? two.hashrate,
  temperature: one.temperature ?? two.temperature,
  chipTemperature: one.chipTemperature ?? two.chipTemperature,
  chips: one.chips ?? two.chips,
  chipsExpected: one.chipsExpected ?? two.chipsExpected,
  frequency: one.frequency ?? two.frequency,
  voltage: one.voltage ?? two.voltage,
  serial: one.serial ?? two.serial,
});

export const devicesOf = ({ readings, off }: Snapshot): DeviceReading[] =>
  readings.boards.map((board) =>
    boardDevice(board, {
      status: off.has(board.slot) ? "disabled" : "enabled",
      temperature: board.temperature ?? board.chipTemperature,
    }),
  );

/** Each group of pools has an active one; only that of the first group counts as active. */
export const oneActive = (pools: readonly PoolReading[]): PoolReading[] => {
  const first = pools.find(({ active }) => active);
  return pools.map((pool) => (pool.active && pool !== first ? { ...pool, active: false } : pool));
};

/** Slots are numbers or texts ("6", 6), depending on the protocol; null for anything else. */
export function slotOf(reply: TolerantReader, key: string): number | null {
  const slot = reply.integer(key);
  return slot !== null && slot <= 99 ? slot : null;
}

/** Braiins OS also lists connectors without a fan, at 0 rpm; where none turns, all are shown. */
export const turning = (fans: RigReadings["fans"]): RigReadings["fans"] => {
  const some = fans.filter(({ rpm }) => rpm !== null && rpm > 0);
  return some.length > 0 ? some : fans;
};
