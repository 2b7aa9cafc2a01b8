/** The keys of times and of durations in objects of OpenADR 3.1. */
const times = new Set(["createdDateTime", "modificationDateTime", "start"]);
const durations = new Set(["duration", "randomizeStart"]);

/**
 * A program or an event as openleadr-vtn 0.2.8 writes it: times with an offset instead of Z, durations with all their parts,
 * always a list of targets, no null but the priority of an event, and no type of an event's descriptors.
 */
export const asWritten = (object: object): object =>
  "programID" in object
    ? { priority: null, targets: [], ...written(object, "objectType"), objectType: "EVENT" }
    : { targets: [], ...written(object), objectType: "PROGRAM" };

const written = (object: object, leftOut = ""): object =>
  Object.fromEntries(
    Object.entries(object)
      .filter(([key, value]) => key !== leftOut && value !== undefined && (value !== null || key === "priority"))
      .map(([key, value]) => [key, writtenValue(key, value, leftOut)]),
  );

function writtenValue(key: string, value: unknown, leftOut: string): unknown {
  if (Array.isArray(value)) return value.map((each: unknown) => writtenValue("", each, leftOut));
  if (typeof value === "object" && value !== null) return written(value, leftOut);
  if (typeof value !== "string") return value;
  if (times.has(key) && !Number.isNaN(Date.parse(value)))
    return new Date(value).toISOString().replace(/(?:\.000)?Z$/, "+00:00");
  return durations.has(key) ? wholeDuration(value) : value;
}

/** With weeks as days; text that is no duration as it is. */
function wholeDuration(text: string): string {
  const parts =
    /^P(?:([\d.]+)Y)?(?:([\d.]+)M)?(?:([\d.]+)W)?(?:([\d.]+)D)?(?:T(?:([\d.]+)H)?(?:([\d.]+)M)?(?:([\d.]+)S)?)?$/.exec(
      text,
    );
  if (parts === null) return text;
  const [years = 0, months = 0, weeks = 0, days = 0, hours = 0, minutes = 0, seconds = 0] = parts
    .slice(1)
    .map((part) => Number(part ?? 0));
  return `P${years}Y${months}M${weeks * 7 + days}DT${hours}H${minutes}M${seconds}S`;
}

/** Events by priority, and both newest first, as openleadr-vtn lists them. */
export const inOrder = (objects: readonly object[]): object[] =>
  objects.toSorted((a, b) => priorityOf(a) - priorityOf(b) || compare(createdOf(b), createdOf(a)));

/** Not Infinity, whose difference is not a number. */
const priorityOf = (object: object): number =>
  "priority" in object && typeof object.priority === "number" ? object.priority : Number.MAX_VALUE;
const createdOf = (object: object): string => ("createdDateTime" in object ? String(object.createdDateTime) : "");
const compare = (a: string, b: string): number => (a === b ? 0 : a < b ? -1 : 1);
