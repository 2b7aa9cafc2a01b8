import { useEffect, useMemo, useState } from "preact/hooks";
import { call } from "../../api.ts";
import { byName, counted, number } from "../../format.ts";
import { t } from "../../language.ts";
import { type Row, rigs, wantColumns } from "../../live.ts";
import { EmptyState } from "../../parts/empty-state.tsx";
import { Field } from "../../parts/field.tsx";
import { Icon } from "../../parts/icon.tsx";
import { Loading, useLoaded } from "../../parts/load.tsx";
import { Qr } from "../../parts/qr.tsx";
import type { PlaceTree } from "../../places.ts";
import { usePageQuery } from "../../query.ts";
import { may } from "../../session.ts";
import { byPosition } from "./floor.ts";
import "./labels.css";
import { RackSheets } from "./rack-sheets.tsx";

/** Codes that a browser lays out in a second or two. */
const mostLabels = 1_000;

interface LabelsProps {
  readonly tree: PlaceTree;
  /** Null: all rigs. */
  readonly id: number | null;
}

/** Labels for the rigs of a place, or a sheet for each of its racks, to be printed and stuck on. */
export function Labels({ tree, id }: LabelsProps) {
  const query = usePageQuery();
  const isOfRacks = query.get("labels") === "racks";
  const [address, setAddress] = useState(document.baseURI);
  const base = baseOf(address);
  useEffect(() => wantColumns(["position"]), []);
  return (
    <>
      <form class="label-controls" onSubmit={(event) => event.preventDefault()}>
        <Field label={t.labels.what}>
          {(control) => (
            <select
              {...control}
              value={isOfRacks ? "racks" : ""}
              onChange={({ currentTarget }) => query.set({ labels: currentTarget.value })}
            >
              <option value="">{t.labels.rigs}</option>
              <option value="racks">{t.labels.racks}</option>
            </select>
          )}
        </Field>
        <Field
          label={t.labels.address}
          hint={base !== null && isLoopback(base) ? t.labels.loopback : t.labels.addressHint}
          problem={base === null ? t.labels.noAddress : undefined}
        >
          {(control) => (
            <input
              {...control}
              type="url"
              dir="ltr"
              spellcheck={false}
              maxLength={300}
              value={address}
              onInput={({ currentTarget }) => setAddress(currentTarget.value)}
            />
          )}
        </Field>
        <button type="button" class="button primary" disabled={base === null} onClick={() => print()}>
          <Icon name="printer" /> {t.labels.print}
        </button>
      </form>
      {base === null ? null : isOfRacks ? (
        <RackSheets tree={tree} id={id} base={base} />
      ) : (
        <RigLabels tree={tree} id={id} base={base} />
      )}
    </>
  );
}

/** The dashboard's address as a page's base; null unless it is one of the web. */
function baseOf(address: string): URL | null {
  const url = URL.canParse(address) ? new URL(address) : null;
  if (url === null || !/^https?:$/.test(url.protocol)) return null;
  if (!url.pathname.endsWith("/")) url.pathname += "/";
  return url;
}

const isLoopback = ({ hostname }: URL): boolean => /^(localhost|127\.|\[::1\])/.test(hostname);

/** The rigs of a place in the order of the racks and their positions, at last those without a place. */
function sorted(rows: Iterable<Row>, tree: PlaceTree, id: number | null): Row[] {
  const order = new Map(tree.all.map((place, index) => [place.id, index]));
  const within = id === null ? null : tree.within(id);
  const indexOf = ({ place }: Row): number => order.get(place ?? 0) ?? tree.all.length;
  return [...rows]
    .filter(({ place }) => within === null || (place != null && within.has(place)))
    .sort((one, other) => indexOf(one) - indexOf(other) || byPosition(one, other) || byName(one.name, other.name));
}

/** MAC addresses by UID, which the rows do not have. */
async function macsByUid(signal: AbortSignal): Promise<ReadonlyMap<string, string>> {
  if (!may("exportPlaces")) return new Map();
  const { list } = await call("exportPlaces", {}, { signal });
  return new Map(list.flatMap(({ uid, mac }) => (uid === null || mac === null ? [] : [[uid, mac]])));
}

function RigLabels({ tree, id, base }: LabelsProps & { base: URL }) {
  const macs = useLoaded(macsByUid, []);
  const state = rigs.value;
  const rows = useMemo(() => sorted(state.byId.values(), tree, id), [state, tree, id]);
  return (
    <Loading from={macs}>
      {(mac, known) =>
        rows.length === 0 && state.loaded ? (
          <EmptyState known={known} icon="rigs" title={t.places.noRigs} text={t.places.noRigsText} />
        ) : (
          <>
            {rows.length > mostLabels ? (
              <p class="banner warning label-controls">
                {t.labels.tooMany({ shown: number(mostLabels), rigs: counted(rows.length, t.rigs.count) })}
              </p>
            ) : null}
            <ul class="label-list" aria-label={t.labels.rigs}>
              {rows.slice(0, mostLabels).map((row) => (
                <Label
                  key={row.id}
                  row={row}
                  tree={tree}
                  mac={row.uid === null ? undefined : mac.get(row.uid)}
                  base={base}
                />
              ))}
            </ul>
          </>
        )
      }
    </Loading>
  );
}

interface LabelProps {
  readonly row: Row;
  readonly tree: PlaceTree;
  readonly mac: string | undefined;
  readonly base: URL;
}

function Label({ row: { id, name, place, position, model }, tree, mac, base }: LabelProps) {
  const url = new URL(`rigs/${id}`, base).href;
  const path = place == null ? undefined : tree.get(place)?.path;
  return (
    <li class="label-card">
      <Qr text={url} label={url} />
      <div>
        <strong>
          <bdi>{name}</bdi>
        </strong>
        {path === undefined ? null : <bdi>{path}</bdi>}
        {position == null ? null : <span>{t.places.at(position)}</span>}
        {model == null ? null : <bdi>{model}</bdi>}
        {mac === undefined ? null : <code>{mac}</code>}
      </div>
    </li>
  );
}
