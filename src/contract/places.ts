import { z } from "zod";

/** The kinds of places, largest first. A place is always inside a larger one, or at the top. */
export const placeKinds = ["site", "building", "row", "rack"] as const;
export const PlaceKind = z.enum(placeKinds);
export type PlaceKind = z.infer<typeof PlaceKind>;

/** A place by its id or its path. */
export const PlaceName = z.union([z.int().min(1), z.string().min(1).max(400)]);
export type PlaceName = z.infer<typeof PlaceName>;

/** The most rows or columns of a place. */
export const mostSlots = 1_000;
