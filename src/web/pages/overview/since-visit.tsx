import type { Command, Notification } from "../../../contract/resources.ts";
import { call } from "../../api.ts";
import { counted, weekdayTime } from "../../format.ts";
import { t } from "../../language.ts";
import { lastVisit } from "../../last-visit.ts";
import { useLoaded } from "../../parts/load.tsx";
import { link } from "../../route.ts";
import { may } from "../../session.ts";

/** The events since the last visit, in one line; nothing if there are none. */
export function SinceVisit() {
  const { value } = useLoaded(async (signal) => {
    if (lastVisit === null) return null;
    const [alarms, commands] = await Promise.all([
      may("listNotifications") ? call("listNotifications", {}, { signal }) : null,
      may("listCommands") ? call("listCommands", { since: lastVisit }, { signal }) : null,
    ]);
    return happened(lastVisit, alarms?.notificationList ?? [], commands?.commandList ?? []);
  }, []);
  if (value == null || lastVisit === null || (value.alarms === 0 && value.commands === 0)) return null;
  const { alarms, open, commands, failed } = value;
  return (
    <p class="since-visit">
      {t.overview.since({ time: weekdayTime(lastVisit) })}{" "}
      {alarms === 0 ? null : (
        <a href={link("alarms?state=all")}>
          {counted(alarms, t.overview.newAlarms)}
          {open === 0 ? "" : ` (${counted(open, t.overview.stillOpen)})`}
        </a>
      )}
      {alarms === 0 || commands === 0 ? null : " · "}
      {commands === 0 ? null : (
        <a href={link("activity")}>
          {counted(commands, t.overview.newCommands)}
          {failed === 0 ? "" : ` (${counted(failed, t.overview.failedCommands)})`}
        </a>
      )}
    </p>
  );
}

function happened(since: number, notifications: readonly Notification[], commands: readonly Command[]) {
  const alarms = notifications.filter(({ isWarning, lastUtc }) => isWarning && Date.parse(lastUtc) >= since);
  return {
    alarms: alarms.length,
    open: alarms.filter(({ closedUtc }) => closedUtc === null).length,
    commands: commands.length,
    failed: commands.filter(({ state }) => state === "failed").length,
  };
}
