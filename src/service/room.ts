import type { MiningService } from "../contract/service.ts";
import type { Calls } from "./users/guard.ts";

/** A part of the service: what it offers, and what it does in the background. */
export interface ServiceRoom {
  /** Operations, for callers whose access was checked. */
  readonly operations?: Partial<Calls>;
  /** Other methods of the service, and streams: they check access by themselves. */
  readonly direct?: Partial<MiningService>;
  /** Before it nothing of the room happens by itself. */
  start?(): void | Promise<void>;
  /** Resolves when what it does by itself is done, and nothing is under way. */
  settled?(): Promise<void>;
  /**
   * Takes on nothing more at once, and resolves when nothing is left to do. `later` resolves when all rooms that were
   * started after this one have closed: what they still use stays until then.
   */
  close?(later: Promise<void>): void | Promise<void>;
  /** What other rooms use of it. */
  readonly [shared: string]: unknown;
}

/**
 * Starts the rooms in their order, and returns what closes them in the opposite one. If one cannot be started, closes them
 * and rejects.
 */
export async function startRooms(rooms: readonly ServiceRoom[]): Promise<() => Promise<void>> {
  try {
    for (const room of rooms) await room.start?.();
  } catch (error) {
    // Whatever else goes wrong follows from the error that is thrown.
    await closeRooms(rooms).catch(() => undefined);
    throw error;
  }
  return () => closeRooms(rooms);
}

/** Every room closes even if another cannot. */
async function closeRooms(rooms: readonly ServiceRoom[]): Promise<void> {
  const closing: Promise<void>[] = [];
  for (const room of rooms.toReversed()) {
    const later = Promise.allSettled(closing).then(() => undefined);
    closing.push((async () => room.close?.(later))());
  }
  await Promise.allSettled(closing);
  await Promise.all(closing);
}

/** Resolves when nothing is under way in any room; each gives work only to those before it. */
export async function settledRooms(rooms: readonly ServiceRoom[]): Promise<void> {
  for (const room of rooms.toReversed()) await room.settled?.();
}
