/** What happens to a rig besides commands, as `action` of GET /api/commands. The names are stored, and never change. */
export const storyActions = {
  repair: "repair",
  repairEnd: "end_repair",
  note: "note",
  restart: "restarted",
  firmware: "firmware",
} as const;

const names: ReadonlySet<string> = new Set(Object.values(storyActions));

/** Whether nothing was sent to the rig for this action. */
export const isStoryAction = (action: string): boolean => names.has(action);
