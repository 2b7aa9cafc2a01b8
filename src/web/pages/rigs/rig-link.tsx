import { counted, number } from "../../format.ts";
import { t } from "../../language.ts";
import { notifications, type Row } from "../../live.ts";
import { Icon } from "../../parts/icon.tsx";
import { link } from "../../route.ts";

/** The name of a rig, which leads to its page, with its open alarms. */
export const RigLink = ({ row, tabIndex }: { row: Row; tabIndex?: number }) => (
  <span class="rig-link">
    <a href={link(`rigs/${row.id}`)} tabIndex={tabIndex}>
      <bdi title={row.name}>{row.name}</bdi>
    </a>
    {row.alarms === null || row.alarms === 0 ? null : <Alarms id={row.id} count={row.alarms} tabIndex={tabIndex} />}
  </span>
);

const mostNamed = 5;

function Alarms({ id, count, tabIndex }: { id: number; count: number; tabIndex: number | undefined }) {
  const open = notifications.value.filter(({ minerId, closedUtc }) => minerId === id && closedUtc === null);
  const isCritical = open.some(({ severity }) => severity === "critical");
  return (
    <a
      href={link(`alarms?rig=${id}`)}
      tabIndex={tabIndex}
      class={`alarms ${isCritical ? "bad" : "warning"}`}
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
