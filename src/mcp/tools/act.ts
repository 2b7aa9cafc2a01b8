import { z } from "zod";
import type { Room } from "../../contract/resources.ts";
import type { MinerRow } from "../../contract/rows.ts";
import { advice } from "../advice.ts";
import { asData, longestMessage, withoutMarks } from "../data-text.ts";
import { type JobBody, jobHead, runJob, smallResult } from "../jobs.ts";
import { pageInput, pageOf } from "../page.ts";
import { rowsOf, targetInput, targetsOf } from "../rigs.ts";
import { type ActingTool, acting, type Plan, reading, type Small, type ToolContext } from "../tool.ts";

/** The arguments of every tool that acts. */
const actInput = {
  dryRun: z.boolean().default(false).describe("true: say what would happen, and do nothing"),
  confirmation: z
    .string()
    .max(100)
    .optional()
    .describe("the confirmation of the result before, once the user has agreed; it works once"),
};

const rigInput = { ...targetInput, ...actInput };
const onRigs = ["listMinerRows", "startBulkAction", "getBulkAction"] as const;
const asks = "For more than five rigs the user is asked first.";

/** An action without further parameters. */
const simple = (name: string, title: string, description: string, words: string, body: JobBody): ActingTool =>
  acting({
    name,
    title,
    description: `${description} ${asks}`,
    input: z.strictObject(rigInput),
    uses: onRigs,
    plan: async (given, context) => planFor(await targetsOf(given, context), words, body, context),
  });

const planFor = (targets: readonly MinerRow[], words: string, body: JobBody, context: ToolContext): Plan => ({
  rigs: targets.map(({ id }) => id),
  summary: `${words} ${rigsText(targets)}`,
  rehearse: () => runJob(body, targets, true, context),
  act: () => runJob(body, targets, false, context),
});

const mostNames = 8;

function rigsText(targets: readonly MinerRow[]): string {
  const names = targets.slice(0, mostNames).map(({ name }) => asData(name) ?? "");
  const others = targets.length - names.length;
  const count = targets.length === 1 ? "1 rig" : `${targets.length} rigs`;
  return `${count}: ${names.join(", ")}${others === 0 ? "" : ` and ${others} others`}`;
}

export const stopRigs = simple(
  "stop_rigs",
  "Stop rigs",
  "Stops mining. A stopped rig stays stopped until it is started again.",
  "Stop",
  { action: "stop", parameters: {} },
);

export const startRigs = simple("start_rigs", "Start rigs", "Starts mining on rigs that were stopped.", "Start", {
  action: "start",
  parameters: {},
});

export const restartRigs = simple(
  "restart_rigs",
  "Restart mining",
  "Restarts the mining software; a rig that cannot do that is rebooted.",
  "Restart mining on",
  { action: "restart", parameters: {}, orReboot: true },
);

export const rebootRigs = simple("reboot_rigs", "Reboot rigs", "Reboots whole rigs.", "Reboot", {
  action: "reboot",
  parameters: {},
});

export const setPower = acting({
  name: "set_power",
  title: "Set the power of rigs",
  description:
    `Sets the power that each rig draws, in W; 0 stops it. The rig gets the settings that come closest. rig_details ` +
    `shows the possible values as power_target. ${asks}`,
  input: z.strictObject({ ...rigInput, watts: z.number().min(0).max(100_000).describe("W for each rig") }),
  uses: onRigs,
  plan: async ({ watts, ...given }, context) =>
    planFor(
      await targetsOf(given, context),
      `Set the power to ${watts} W on`,
      { action: "set", parameters: { property: "power_target", value: String(watts) } },
      context,
    ),
});

export const setMode = acting({
  name: "set_mode",
  title: "Set the power mode of rigs",
  description: `Sets the power mode, one of those that rig_details shows for the setting mode. ${asks}`,
  input: z.strictObject({ ...rigInput, mode: z.string().min(1).max(100) }),
  uses: onRigs,
  plan: async ({ mode, ...given }, context) =>
    planFor(
      await targetsOf(given, context),
      `Set the mode ${asData(mode)} on`,
      { action: "set_mode", parameters: { mode: withoutMarks(mode) } },
      context,
    ),
});

export const changePool = acting({
  name: "change_pool",
  title: "Change the pool of rigs",
  description: `Makes rigs mine at a stored pool or pool group of list_pools. ${asks}`,
  input: z.strictObject({
    ...rigInput,
    pool: z.int().min(1).describe("id of list_pools"),
    type: z.enum(["single", "group"]).default("single").describe("type of list_pools"),
  }),
  uses: [...onRigs, "listPools"],
  plan: async ({ pool, type, ...given }, context) =>
    planFor(
      await targetsOf(given, context),
      `Change to ${type === "single" ? "pool" : "pool group"} ${pool} on`,
      { action: "change_pool", parameters: { pool_id: pool, pool_type: type } },
      context,
    ),
});

export const setRoom = acting({
  name: "set_room",
  title: "Set a room",
  description:
    "Sets the target in °C, the power in W, or switches a room of list_rooms on or off; it controls all rigs of the " +
    `room. ${asks}`,
  input: z.strictObject({
    room: z.string().min(1).max(100).describe("key of list_rooms"),
    targetC: z.number().min(5).max(35).optional().describe("°C, of a room whose temperature is held"),
    powerW: z.number().min(0).max(10_000_000).optional().describe("W that its rigs may take together; 0 stops them"),
    on: z.boolean().optional().describe("false stops its rigs until they are switched on again"),
    ...actInput,
  }),
  uses: ["listRooms", "changeRoom"],
  plan: async ({ room: key, targetC, powerW, on }, { service, caller }) => {
    if ([targetC, powerW, on].every((each) => each === undefined))
      throw advice("arguments", "needs at least one of targetC, powerW and on");
    const room = (await service.listRooms({}, caller)).find((each) => each.key === key);
    if (room === undefined) throw advice("room", "there is no such room; list_rooms lists them");
    if (powerW !== undefined && on !== undefined) throw advice("on", "cannot be given together with powerW");
    const wanted = [
      ...(targetC === undefined ? [] : [`${targetC} °C`]),
      ...(powerW === undefined ? [] : [`${powerW} W`]),
      ...(on === undefined ? [] : [on ? "on" : "off"]),
    ].join(", ");
    const change = {
      ...(targetC === undefined ? {} : { target: targetC }),
      ...(powerW === undefined ? {} : { power: powerW }),
      ...(on === undefined ? {} : { on }),
    };
    return {
      rigs: room.miners,
      summary: `Set the room ${asData(room.name)} with ${room.miners.length} rigs to ${wanted}`,
      rehearse: async () => {
        checkRoom(room, targetC, powerW);
        return { dryRun: true, would: `set to ${wanted}`, now: roomNow(room) };
      },
      act: async () => ({ now: roomNow(await service.changeRoom({ key, ...change }, caller)) }),
    };
  },
});

/** What the service would refuse. */
function checkRoom({ kind, control }: Room, targetC: number | undefined, powerW: number | undefined): void {
  if (targetC !== undefined && kind !== "target") throw advice("targetC", "this room has no target temperature");
  if (powerW === undefined) return;
  if (kind === "target") throw advice("powerW", "this room is set by its temperature");
  if (control?.unit === "W" && powerW > control.max) throw advice("powerW", `must be at most ${control.max} W`);
}

const roomNow = ({ key, name, on, control, temperature, power, mining, miners, changing }: Room): Small => ({
  key,
  name: asData(name),
  on,
  setTo: control === null ? null : { value: control.value, unit: control.unit },
  temperatureC: temperature,
  powerW: power,
  rigs: miners.length,
  rigsMining: mining,
  changing,
});

export const acknowledge = acting({
  name: "acknowledge_notifications",
  title: "Acknowledge notifications",
  description: "Marks notifications as seen by their ids; nothing is removed.",
  input: z.strictObject({
    ids: z.array(z.int().min(1)).min(1).max(100).describe("ids of notifications, at most 100"),
    ...actInput,
  }),
  uses: ["listNotifications", "notificationsAction"],
  plan: async ({ ids }, { service, caller }) => {
    const { notificationList } = await service.listNotifications({}, caller);
    const named = notificationList.filter(({ id }) => ids.includes(id));
    return {
      rigs: [...new Set(named.flatMap(({ minerId }) => minerId ?? []))],
      summary: `Acknowledge ${named.length} notifications`,
      rehearse: async () => ({
        dryRun: true,
        would: named.map(({ id, title, isAcknowledged }) => ({
          id,
          title: asData(title),
          acknowledged: isAcknowledged,
        })),
      }),
      act: async () => {
        const { message } = await service.notificationsAction({ action: "ack", ids }, caller);
        return { message: asData(message, longestMessage) };
      },
    };
  },
});

export const jobStatus = reading({
  name: "job_status",
  title: "How an action ended",
  description: "State and results of an action on several rigs, by the job of its result, in pages.",
  input: z.strictObject({ job: z.int().min(1).describe("job of the result"), ...pageInput }),
  uses: ["getBulkAction", "listMinerRows"],
  read: async ({ job: id, ...page }, context) => {
    const job = await context.service.getBulkAction({ id }, context.caller);
    const names = new Map((await rowsOf(context, ["name"])).map((row) => [row.id, row.name]));
    return {
      ...jobHead(job),
      ...pageOf("results", job.results, page, (each) => smallResult(each, names.get(each.minerId))),
    };
  },
});
