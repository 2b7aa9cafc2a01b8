import type { MiningService } from "../contract/service.ts";
import type { Calls } from "./users/guard.ts";

/** A part of the service: its operations and its background work. */
export interface ServiceRoom {
  /** Operations for callers whose access is already checked. */
  readonly operations?: Partial<Calls>;
  /** Other methods of the service, and streams: they check access themselves. */
  readonly direct?: Partial<MiningService>;
  /** Starts the background work of the room. */
  start?(): void | Promise<void>;
  /** Resolves when its background work is idle. */
  settled?(): Promise<void>;
  /**
   * Accepts no more work at once, and resolves when the remaining work is done. `later` resolves when all rooms that
   * were started after this one have closed: resources that they still use stay open until then.
   */
  close?(later: Promise<void>): void | Promise<void>;
  /** Shared with other rooms. */
  readonly [shared: string]: unknown;
}

/**
 * Starts the rooms in order, and returns a function that closes them in reverse. If a room cannot be started, closes
 * the others and rejects.
 */
export async function startRooms(rooms: readonly ServiceRoom[]): Promise<() => Promise<void>> {
  try {
    for (const room of rooms) await room.start?.();
  } catch (error) {
    // Further errors follow from the one that is thrown.
    await closeRooms(rooms).catch(() => undefined);
    throw error;
  }
  return () => closeRooms(rooms);
}

/** Closes every room, even if another fails to close. */
async function closeRooms(rooms: readonly ServiceRoom[]): Promise<void> {
  const closing: Promise<void>[] = [];
  for (const room of rooms.toReversed()) {
    const later = Promise.allSettled(closing).then(() => undefined);
    closing.push((async () => room.close?.(later))());
  }
  await Promise.allSettled(closing);
  await Promise.all(closing);
}

/** Resolves when all rooms are idle; each room gives work only to earlier ones. */
export async function settledRooms(rooms: readonly ServiceRoom[]): Promise<void> {
  for (const room of rooms.toReversed()) await room.settled?.();
}
