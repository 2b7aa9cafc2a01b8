import { z } from "zod";

/** The kinds of places, largest first. A place is always inside a larger one, or at the top. */
export const placeKinds = ["site", "building", "row", "rack"] as const;
export const PlaceKind = z.enum(placeKinds);
export type PlaceKind = z.infer<typeof PlaceKind>;
