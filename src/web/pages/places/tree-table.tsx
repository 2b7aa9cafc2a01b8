import type { JSX } from "preact";
import { useMemo, useState } from "preact/hooks";
import type { Place } from "../../../contract/place-operations.ts";
import { call } from "../../api.ts";
import { hashrate, number, power } from "../../format.ts";
import { t } from "../../language.ts";
import { rigs } from "../../live.ts";
import { Icon, type IconName } from "../../parts/icon.tsx";
import { Scroll } from "../../parts/scroll.tsx";
import { useButton } from "../../parts/use-form.ts";
import { ordersToMove, type PlaceTree, sumsByPlace } from "../../places.ts";
import { link } from "../../route.ts";
import { may } from "../../session.ts";
import type { Sums } from "../../sums.ts";
import type { Asked } from "./dialogs.tsx";
import "./places.css";

/** With more places, only the largest are open at first. */
const mostOpen = 60;
const mostAlgorithms = 2;
const none: ReadonlyMap<number, Sums> = new Map();

interface TreeProps {
  readonly tree: PlaceTree;
  readonly onAsk: (asked: Asked) => void;
  readonly reload: () => void;
}

/** The places with the sums of their rigs, which follow the rigs as the list does. */
export function TreeTable({ tree, onAsk, reload }: TreeProps) {
  const state = rigs.value;
  const sums = useMemo(() => (state.loaded ? sumsByPlace(tree, state.byId.values()) : none), [tree, state]);
  const [opened, setOpened] = useState<ReadonlyMap<number, boolean>>(new Map());
  const { busy, send } = useButton();
  const isOpen = ({ id, parentId }: Place): boolean =>
    opened.get(id) ?? (parentId === null || tree.all.length <= mostOpen);
  const move = (place: Place, by: number) =>
    send(async () => {
      const siblings = tree.inside(place.parentId);
      const orders = ordersToMove(siblings, place.id, siblings.indexOf(place) + by);
      for (const [id, order] of orders) await call("changePlace", { id, order });
      reload();
    });
  const branch = (parentId: number | null, depth: number): JSX.Element[] =>
    tree.inside(parentId).flatMap((place, index, siblings) => [
      <tr key={place.id}>
        <th scope="row" class="name place-name" style={{ "--depth": depth }}>
          {tree.inside(place.id).length === 0 ? null : (
            <button
              type="button"
              class="button quiet small"
              aria-expanded={isOpen(place)}
              aria-label={t.places.inside({ name: place.name })}
              onClick={() => setOpened(new Map(opened).set(place.id, !isOpen(place)))}
            >
              <Icon name={isOpen(place) ? "down" : "next"} />
            </button>
          )}
          <a href={link(`places/${place.id}`)}>
            <bdi>{place.name}</bdi>
          </a>{" "}
          <small>{t.places.kind[place.kind]}</small>
        </th>
        <Figures id={place.id} sums={sums.get(place.id)} />
        <td class="place-actions">
          <Actions
            place={place}
            isFirst={index === 0}
            isLast={index === siblings.length - 1}
            busy={busy}
            onAsk={onAsk}
            move={move}
          />
        </td>
      </tr>,
      ...(isOpen(place) ? branch(place.id, depth + 1) : []),
    ]);
  return (
    <Scroll name={t.menu.places}>
      <table class="place-table">
        <thead>
          <tr>
            <th scope="col">{t.places.place}</th>
            <th scope="col" class="number">
              {t.menu.rigs}
            </th>
            <th scope="col" class="number">
              {t.status.Mining}
            </th>
            <th scope="col" class="number">
              {t.rigs.columns.hashrate}
            </th>
            <th scope="col" class="number">
              {t.rigs.columns.power}
            </th>
            <th scope="col" class="number">
              {t.menu.alarms}
            </th>
            <td />
          </tr>
        </thead>
        <tbody>{branch(null, 0)}</tbody>
      </table>
    </Scroll>
  );
}

/** `sums` are undefined while the rigs are loading, and for a place that has just been added. */
const Figures = ({ id, sums }: { id: number; sums: Sums | undefined }) =>
  sums === undefined ? (
    <td colSpan={5} />
  ) : (
    <>
      <td class="number">
        <a href={link(`rigs?place=${id}`)}>{number(sums.count + sums.inRepair)}</a>
      </td>
      <td class="number">{number(sums.mining)}</td>
      <td class="number">
        {sums.hashrates.length === 0 ? hashrate(null) : null}
        {sums.hashrates.slice(0, mostAlgorithms).map((each) => (
          <div key={each.algorithm}>{hashrate(each.hashrate, each.algorithm)}</div>
        ))}
      </td>
      <td class="number">{power(sums.power.value)}</td>
      <td class={sums.alarms === 0 ? "number" : "number place-alarms"}>{number(sums.alarms)}</td>
    </>
  );

interface ActionsProps {
  readonly place: Place;
  readonly isFirst: boolean;
  readonly isLast: boolean;
  readonly busy: boolean;
  readonly onAsk: (asked: Asked) => void;
  readonly move: (place: Place, by: number) => Promise<void>;
}

function Actions({ place, isFirst, isLast, busy, onAsk, move }: ActionsProps) {
  const button = (icon: IconName, label: string, onClick: () => unknown, disabled = false) => (
    <button type="button" class="button quiet small" title={label} disabled={disabled} onClick={onClick}>
      <Icon name={icon} />
      <span class="visually-hidden">
        {label}: {place.path}
      </span>
    </button>
  );
  return (
    <>
      {may("addPlace") && place.kind !== "rack"
        ? button("plus", t.places.addInside, () => onAsk({ what: "add", inside: place }))
        : null}
      {may("changePlace") ? (
        <>
          {button("up", t.places.moveUp, () => move(place, -1), busy || isFirst)}
          {button("down", t.places.moveDown, () => move(place, 1), busy || isLast)}
          {button("edit", t.places.change, () => onAsk({ what: "change", place }))}
        </>
      ) : null}
      {may("deletePlace") ? button("trash", t.shell.delete, () => onAsk({ what: "delete", place })) : null}
    </>
  );
}
