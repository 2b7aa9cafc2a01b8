import { severities } from "../../contract/resources.ts";
import type { OutboxRow } from "../../store/index.ts";
import type { Format } from "../../units/format.ts";
import type { OutgoingMessage } from "./send-http.ts";

/** How many miners are named in one line. */
const named = 20;

/** What is said of many miners with one title, instead of the title. */
const phrases: Readonly<Record<string, { readonly alarm: string; readonly recovery: string }>> = {
  Disconnected: { alarm: "offline", recovery: "back online" },
};

/** The message about these rows; there is at least one. */
export function messageOf(rows: readonly OutboxRow[], format: Format): OutgoingMessage {
  const [first, second] = rows;
  const alarms = rows.filter(({ event }) => event === "alarm");
  const worst = alarms.map(({ severity }) => severities.indexOf(severity)).reduce((a, b) => Math.max(a, b), -1);
  const only = second === undefined ? first : undefined;
  return {
    id: `rigbridge-${first?.batch ?? 0}-${first?.time ?? 0}`,
    event: alarms.length > 0 ? "alarm" : "recovery",
    level: severities[worst] ?? "recovery",
    ...(only === undefined ? textOfMany(rows) : textOfOne(only, format)),
    count: rows.length,
    miner: only?.miner ?? "",
    group: only?.group ?? "",
    miners: [...new Set(rows.map(({ miner }) => miner).filter((miner) => miner !== ""))],
    time: first?.time ?? 0,
  };
}

interface Text {
  readonly title: string;
  readonly message: string;
}

function textOfOne(row: OutboxRow, format: Format): Text {
  const about = [row.miner, row.title].filter((part) => part !== "").join(": ");
  if (row.event === "alarm") return { title: about, message: withOver(row) };
  const since = row.alarmTime ?? row.time;
  const lasted = format.duration((row.time - since) / 1000);
  return { title: `${about} – over`, message: `${row.message} (since ${format.localTime(since)}, ${lasted})` };
}

function textOfMany(rows: readonly OutboxRow[]): Text {
  const kinds = Map.groupBy(rows, ({ event, title, group }) => JSON.stringify([event, title, group]));
  const lines = [...kinds.values()].map(lineOf);
  const [only, other] = lines;
  if (only !== undefined && other === undefined) return { title: only.head, message: only.names };
  return {
    title: `${rows.length} notifications`,
    message: lines.map(({ head, names }) => (names === "" ? head : `${head}: ${names}`)).join("\n"),
  };
}

/** One line for notifications of one kind about miners of one group, such as "12 rigs offline in Garage". */
function lineOf(rows: readonly OutboxRow[]): { readonly head: string; readonly names: string } {
  const [first, second] = rows;
  if (first === undefined) return { head: "", names: "" };
  const { event, title, group, miner } = first;
  if (second === undefined) {
    const about = [miner, title].filter((part) => part !== "").join(": ");
    return { head: event === "alarm" ? about : `${about} – over`, names: withOver(first) };
  }
  const where = group === "" ? "" : ` in ${group}`;
  const phrase = Object.hasOwn(phrases, title) ? phrases[title]?.[event] : undefined;
  const what = event === "alarm" ? title : `${title} – over`;
  const many = miner === "" ? `${rows.length} notifications` : `${rows.length} rigs`;
  const names = rows.slice(0, named).map((row) => `${row.miner || row.message}${row.over === null ? "" : " (over)"}`);
  const more = rows.length > named ? ` and ${rows.length - named} more` : "";
  return {
    head: phrase === undefined ? `${many}${where}: ${what}` : `${many} ${phrase}${where}`,
    names: `${names.join(", ")}${more}`,
  };
}

const withOver = ({ message, over }: OutboxRow): string => (over === null ? message : `${message}\nOver: ${over}`);
