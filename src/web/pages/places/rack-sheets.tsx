import { useMemo } from "preact/hooks";
import { t } from "../../language.ts";
import { type Row, rigs } from "../../live.ts";
import { EmptyState } from "../../parts/empty-state.tsx";
import { Knowing } from "../../parts/load.tsx";
import { Qr } from "../../parts/qr.tsx";
import { Scroll } from "../../parts/scroll.tsx";
import type { PlaceTree } from "../../places.ts";
import { byPlace, type Part, partOf } from "./floor.ts";

/** Positions of a rack that fit a page; with more, its rigs are listed with their positions. */
const mostPositions = 1_000;

interface SheetsProps {
  readonly tree: PlaceTree;
  /** Null: all racks. */
  readonly id: number | null;
  /** The dashboard's address in the codes. */
  readonly base: URL;
}

/** A page for each rack of a place: its rigs where they stand, and the code of its map. */
export function RackSheets({ tree, id, base }: SheetsProps) {
  const state = rigs.value;
  const racks = useMemo(() => {
    const within = id === null ? null : tree.within(id);
    const rows = byPlace(state.byId.values());
    return tree.all
      .filter(({ id: rack, kind }) => kind === "rack" && within?.has(rack) !== false)
      .flatMap((place) => partOf(place, rows.get(place.id) ?? []));
  }, [state, tree, id]);
  return (
    <Knowing value={state.loaded ? racks : undefined}>
      {(all, known) =>
        all.length === 0 ? (
          <EmptyState known={known} icon="rack" title={t.labels.noRacks} text={t.labels.noRacksText} />
        ) : (
          <div class="label-sheets">
            {all.map((rack) => (
              <Sheet key={rack.place.id} rack={rack} base={base} />
            ))}
          </div>
        )
      }
    </Knowing>
  );
}

function Sheet({ rack, base }: { rack: Part; base: URL }) {
  const { place, columns, rows, positioned, others } = rack;
  const url = new URL(`places/${place.id}`, base).href;
  const fits = columns * rows <= mostPositions;
  return (
    <section class="label-sheet">
      <header>
        <h2>
          <bdi>{place.path}</bdi>
        </h2>
        <Qr text={url} label={url} />
      </header>
      {rows > 0 && fits ? <Grid rack={rack} /> : null}
      {fits ? null : <List name={t.labels.positions} rows={positioned} />}
      {others.length === 0 ? null : <List name={t.labels.withoutPosition} rows={others} />}
    </section>
  );
}

/** Row 1 is the top one, column 1 the left one, in every language. */
function Grid({ rack: { place, columns, rows, positioned } }: { rack: Part }) {
  const names = new Map(positioned.map(({ position, name }) => [`${position?.row} ${position?.column}`, name]));
  const numbers = (count: number) => Array.from({ length: count }, (_, index) => index + 1);
  return (
    <Scroll name={place.name}>
      <table class="label-grid" dir="ltr">
        <thead>
          <tr>
            <td />
            {numbers(columns).map((column) => (
              <th key={column} scope="col">
                {column}
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          {numbers(rows).map((row) => (
            <tr key={row}>
              <th scope="row">{row}</th>
              {numbers(columns).map((column) => (
                <td key={column}>
                  <bdi>{names.get(`${row} ${column}`)}</bdi>
                </td>
              ))}
            </tr>
          ))}
        </tbody>
      </table>
    </Scroll>
  );
}

const List = ({ name, rows }: { name: string; rows: readonly Row[] }) => (
  <>
    <h3>{name}</h3>
    <ul class="label-names">
      {rows.map(({ id, name: rig, position }) => (
        <li key={id}>
          <bdi>{rig}</bdi>
          {position == null ? null : ` · ${t.places.at(position)}`}
        </li>
      ))}
    </ul>
  </>
);
