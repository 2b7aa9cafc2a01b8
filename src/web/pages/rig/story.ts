import type { Command, MinerDetail, Notification } from "../../../contract/resources.ts";

/** An entry in a rig's timeline. `time`: epoch ms. */
export type Happening =
  | { readonly kind: "command"; readonly time: number; readonly command: Command }
  /** An alarm began or ended. */
  | { readonly kind: "alarm"; readonly time: number; readonly notification: Notification; readonly over: boolean }
  /** Mining since then. */
  | { readonly kind: "mining"; readonly time: number };

/** The timeline of a rig, newest first: its commands, its alarms with their ends, and the start of mining. */
export function storyOf(
  { id, readings, statusInfo }: Pick<MinerDetail, "id" | "readings" | "statusInfo">,
  commands: readonly Command[],
  notifications: readonly Notification[],
): readonly Happening[] {
  const alarms = notifications
    .filter(({ minerId }) => minerId === id)
    .flatMap((notification): Happening[] => {
      const { timeUtc, closedUtc } = notification;
      const began: Happening = { kind: "alarm", time: Date.parse(timeUtc), notification, over: false };
      // An event, such as a found block, ends as it begins.
      if (closedUtc === null || closedUtc === timeUtc) return [began];
      return [began, { kind: "alarm", time: Date.parse(closedUtc), notification, over: true }];
    });
  const sent = commands
    .filter(({ minerId }) => minerId === id)
    .map((command): Happening => ({ kind: "command", time: Date.parse(command.time), command }));
  // A stopped rig still reports its last start.
  const since = statusInfo.statusDisplay === "Mining" ? readings.startedAt : null;
  const mining: Happening[] = since === null ? [] : [{ kind: "mining", time: Date.parse(since) }];
  return [...alarms, ...sent, ...mining].sort((one, other) => other.time - one.time);
}
