import { useEffect, useMemo, useRef } from "preact/hooks";
import { useRoute } from "preact-iso";
import type { Group } from "../../../contract/resources.ts";
import { number } from "../../format.ts";
import { t } from "../../language.ts";
import { type Row, rigs, wantColumns } from "../../live.ts";
import { Icon, type IconName } from "../../parts/icon.tsx";
import { link } from "../../route.ts";
import { shortcuts } from "../../shortcuts.ts";
import { usePlaces } from "../../use-places.ts";
import { columns, compareBy } from "../rigs/columns.tsx";
import { matcher } from "../rigs/filter.ts";
import { groupTree } from "../rigs/groups.ts";
import { markOpened } from "../rigs/left-at.ts";
import { placeOf } from "../rigs/place.ts";
import { searchOf, viewIn } from "../rigs/view.ts";

interface StepsProps {
  readonly id: number;
  readonly groups: readonly Group[];
}

/** Links back to the list in the address (all rigs by default), and to the previous and next rig. */
export function Steps({ id, groups }: StepsProps) {
  const { query } = useRoute();
  const view = useMemo(() => viewIn(query.list ?? ""), [query.list]);
  const places = usePlaces(view.facets.place !== undefined).value;
  const tree = useMemo(() => groupTree(groups, places), [groups, places]);
  const state = rigs.value;
  const order = useMemo(
    () => ({ isListed: matcher(view, tree), compare: compareBy(view.sort, view.descending, tree) }),
    [view, tree],
  );
  const place = useMemo(() => {
    const rig = state.byId.get(id);
    return rig === undefined ? null : placeOf(rig, state.byId.values(), order.isListed, order.compare);
  }, [state, id, order]);
  useEffect(() => wantColumns(columns[view.sort].fields ?? []), [view.sort]);
  useEffect(() => markOpened(id), [id]);

  const nav = useRef<HTMLElement>(null);
  useEffect(() => {
    const onKey = (event: KeyboardEvent) => {
      if (!shortcuts.value || isTaken(event)) return;
      // Clicks the link, so that forms with unsaved changes ask first.
      nav.current?.querySelector<HTMLElement>(`[aria-keyshortcuts="${letterOf(event)}"]`)?.click();
    };
    addEventListener("keydown", onKey);
    return () => removeEventListener("keydown", onKey);
  }, []);
  const hrefOf = (rig: Row): string => link(`rigs/${rig.id}`) + searchIn(query);
  return (
    <nav ref={nav} class="rig-steps" aria-label={t.rig.steps}>
      <a class="button quiet small" href={listAddress(query)}>
        <Icon name="rigs" /> {t.rig.toList}
      </a>
      {place === null || (place.previous === null && place.next === null) ? null : (
        <span class="row" data-keeps-focus>
          <Step letter="k" icon="back" name={t.rig.previous} rig={place.previous} hrefOf={hrefOf} />
          <span role="status">
            {place.isListed
              ? t.rig.placeOf({ place: number(place.before + 1), total: number(place.total) })
              : t.rig.notListed}
          </span>
          <Step letter="j" icon="next" name={t.rig.next} rig={place.next} hrefOf={hrefOf} />
        </span>
      )}
    </nav>
  );
}

type Query = Readonly<Record<string, string>>;

/** The address of the list from which a rig's page was opened; all rigs if there is none. */
export const listAddress = ({ list = "" }: Query): string => link("rigs") + searchOf(viewIn(list));

/** The query with all its fields: the next rig opens in the same section. */
const searchIn = (query: Query): string => {
  const search = new URLSearchParams(query);
  return search.size === 0 ? "" : `?${search}`;
};

/** The letter of a key; in another script, the letter of its position on the keyboard. */
const letterOf = ({ key, code }: KeyboardEvent): string =>
  /^[a-z]$/i.test(key) ? key.toLowerCase() : code.replace(/^Key/, "").toLowerCase();

/** Elements where letters are typed or choose something, and dialogs above the page. */
const typing = "input:not([type=checkbox], [type=range]), select, textarea, dialog, [popover]";

const isTaken = ({ target, altKey, ctrlKey, metaKey, shiftKey, defaultPrevented }: KeyboardEvent): boolean =>
  altKey ||
  ctrlKey ||
  metaKey ||
  shiftKey ||
  defaultPrevented ||
  (target instanceof Element && target.closest(typing) !== null);

interface StepProps {
  readonly letter: "j" | "k";
  readonly icon: IconName;
  readonly name: string;
  /** Null: there is none in this direction. */
  readonly rig: Row | null;
  readonly hrefOf: (rig: Row) => string;
}

/** A link to another rig. At the end of the list it does nothing, and keeps the focus. */
function Step({ letter, icon, name, rig, hrefOf }: StepProps) {
  const target = rig === null ? name : rig.name;
  const attributes = {
    class: "button quiet small",
    "aria-label": rig === null ? name : `${name}: ${rig.name}`,
    ...(shortcuts.value ? { "aria-keyshortcuts": letter, title: `${target} (${letter})` } : { title: target }),
  };
  return rig === null ? (
    <a {...attributes} role="link" aria-disabled tabIndex={-1}>
      <Icon name={icon} />
    </a>
  ) : (
    <a {...attributes} href={hrefOf(rig)}>
      <Icon name={icon} />
    </a>
  );
}
