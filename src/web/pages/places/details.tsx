import { efficiency, hashrate, percent, power, temperature } from "../../format.ts";
import { t } from "../../language.ts";
import type { Row } from "../../live.ts";
import { Stale, Status } from "../../parts/status.tsx";
import { rigAddress } from "../rigs/rig-link.tsx";
import type { Cell } from "./floor.ts";
import { figureOf, type Medians } from "./shades.ts";

interface DetailsProps {
  readonly cell: Cell | null;
  readonly medians: Medians;
  /** The query of the list that its page then steps through. */
  readonly search: string;
}

/** The rig below the pointer or the keys. */
export function Details({ cell, medians, search }: DetailsProps) {
  if (cell === null) return <p class="place-details hint">{t.places.mapHint}</p>;
  const { row, place } = cell;
  return (
    <p class="place-details">
      <a href={rigAddress(row.id, search)}>
        <bdi>{row.name}</bdi>
      </a>
      <span>
        <bdi>{place.path}</bdi>
        {row.position == null ? null : ` · ${t.places.at(row.position)}`}
      </span>
      <Status status={row.status} reason={row.reason} />
      {figuresOf(row, medians).map((figure) => (
        <span key={figure}>{figure}</span>
      ))}
      <Stale readAt={row.readAt} />
    </p>
  );
}

/** Its figures that are known. */
function figuresOf(row: Row, medians: Medians): string[] {
  const share = figureOf("share", row, medians);
  return [
    row.hashrate === null ? null : hashrate(row.hashrate, row.algorithm),
    share === null ? null : t.places.ofExpected({ share: percent(share) }),
    row.temperature === null ? null : temperature(row.temperature),
    row.efficiency == null ? null : efficiency(row.efficiency),
    row.power === null ? null : power(row.power),
  ].filter((figure) => figure !== null);
}

/** The same as one sentence, for a screen reader. */
export const sentenceOf = ({ row, place }: Cell, medians: Medians): string =>
  [
    row.name,
    place.path,
    ...(row.position == null ? [] : [t.places.at(row.position)]),
    t.status[row.status],
    ...figuresOf(row, medians),
  ].join(", ");
