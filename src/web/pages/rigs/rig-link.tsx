import { computed } from "@preact/signals";
import type { Notification, Severity } from "../../../contract/resources.ts";
import { counted, number } from "../../format.ts";
import { t } from "../../language.ts";
import { openAlarms, type Row } from "../../live.ts";
import { Icon } from "../../parts/icon.tsx";
import { link } from "../../route.ts";

/** The address of a rig's page, including the query of the list it is opened from. */
export const rigAddress = (id: number, search: string): string =>
  link(`rigs/${id}`) + (search === "" ? "" : `?${new URLSearchParams({ list: search.slice(1) })}`);

/** The name of a rig as a link to its page, with its open alarms. */
export const RigLink = ({ row, search, tabIndex }: { row: Row; search: string; tabIndex?: number }) => (
  <span class="rig-link">
    <a href={rigAddress(row.id, search)} tabIndex={tabIndex}>
      <bdi title={row.name}>{row.name}</bdi>
    </a>
    {row.alarms === null || row.alarms === 0 ? null : <Alarms id={row.id} count={row.alarms} tabIndex={tabIndex} />}
  </span>
);

const mostNamed = 5;

/** By rig, computed once for all rows that show alarms. */
const openByRig = computed(() => {
  const byRig = new Map<number, Notification[]>();
  for (const notification of openAlarms.value ?? []) {
    const { minerId } = notification;
    if (minerId === null) continue;
    const before = byRig.get(minerId);
    if (before === undefined) byRig.set(minerId, [notification]);
    else before.push(notification);
  }
  return byRig;
});

function Alarms({ id, count, tabIndex }: { id: number; count: number; tabIndex: number | undefined }) {
  const open = openByRig.value.get(id) ?? [];
  const has = (wanted: Severity) => open.some(({ severity }) => severity === wanted);
  return (
    <a
      href={link(`alarms?rig=${id}`)}
      tabIndex={tabIndex}
      class={`alarms ${has("critical") ? "bad" : has("warning") ? "warning" : ""}`}
      title={open
        .slice(0, mostNamed)
        .map(({ title, message }) => title ?? message)
        .join("\n")}
    >
      <Icon name="bell" />
      <span class="visually-hidden">{counted(count, t.shell.alarms)}</span>
      <span aria-hidden="true">{number(count)}</span>
    </a>
  );
}
