import { t } from "../../language.ts";
import type { Job } from "./jobs.ts";
import { named } from "./part-text.ts";

const boardKey = /^board_(\d+)$/;

/** The name of a control of a rig. */
export function controlText(key: string): string {
  const board = boardKey.exec(key)?.[1];
  return board === undefined ? named(t.rig.control, key) : t.rig.board({ slot: board });
}

/** An action with its main parameters: "Power limit 2400". */
export function actionText({ action, parameters }: Pick<Job, "action" | "parameters">): string {
  const { property, value, watts, mode, tag, group, place } = parameters;
  if (action === "set" && property !== undefined) return `${controlText(String(property))} ${String(value)}`;
  const detail = watts ?? mode ?? tag ?? group ?? place;
  return [named(t.rigs.action, action), detail].filter((part) => part !== undefined).join(" ");
}
