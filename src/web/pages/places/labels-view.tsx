import { Loading, useLoaded } from "../../parts/load.tsx";
import type { PlaceTree } from "../../places.ts";

/** Labels to print, whose code nobody else needs. `id`: of a place; null: of all rigs. */
export function LabelsView({ tree, id }: { tree: PlaceTree; id: number | null }) {
  const loaded = useLoaded(() => import("./labels.tsx"), []);
  return <Loading from={loaded}>{({ Labels }) => <Labels tree={tree} id={id} />}</Loading>;
}
