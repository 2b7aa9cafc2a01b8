import { useMemo } from "preact/hooks";
import { call } from "./api.ts";
import { type Loaded, useLoaded, useReloadOn } from "./parts/load.tsx";
import { type PlaceTree, placeTree } from "./places.ts";
import { may } from "./session.ts";

/** The places, read again when they change; none while they are not wanted or the user may not see them. */
export function usePlaces(isWanted = true): Loaded<PlaceTree> {
  const { value, ...loaded } = useLoaded(
    async (signal) => (isWanted && may("listPlaces") ? call("listPlaces", {}, { signal }) : []),
    [isWanted],
  );
  useReloadOn(["places"], loaded.reload);
  return { ...loaded, value: useMemo(() => value && placeTree(value), [value]) };
}
