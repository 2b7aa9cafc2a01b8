import { severities } from "../../contract/resources.ts";
import type { Language } from "../../messages/languages.ts";
import { type ServiceTexts, serviceTexts } from "../../messages/service-texts.ts";
import { counted } from "../../messages/texts.ts";
import type { OutboxRow } from "../../store/index.ts";
import type { Format } from "../../units/format.ts";
import type { OutgoingMessage } from "./send-http.ts";

/** Maximum miners named in one line. */
const named = 20;

/** The message about these rows in a language; there is at least one. */
export function messageOf(rows: readonly OutboxRow[], format: Format, language: Language): OutgoingMessage {
  const [first, second] = rows;
  const alarms = rows.filter(({ event }) => event === "alarm");
  const worst = alarms.map(({ severity }) => severities.indexOf(severity)).reduce((a, b) => Math.max(a, b), -1);
  const only = second === undefined ? first : undefined;
  return {
    id: `rigbridge-${first?.batch ?? 0}-${first?.time ?? 0}`,
    event: alarms.length > 0 ? "alarm" : "recovery",
    level: severities[worst] ?? "recovery",
    ...(only === undefined ? textOfMany(rows, language) : textOfOne(only, format, serviceTexts(language))),
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

function textOfOne(row: OutboxRow, format: Format, { channel }: ServiceTexts): Text {
  const about = [row.miner, row.title].filter((part) => part !== "").join(": ");
  if (row.event === "alarm") return { title: about, message: withOver(row, channel) };
  const since = row.alarmTime ?? row.time;
  const lasted = format.duration((row.time - since) / 1000);
  return {
    title: channel.over({ title: about }),
    message: channel.since({ message: row.message, time: format.localTime(since), lasted }),
  };
}

function textOfMany(rows: readonly OutboxRow[], language: Language): Text {
  const kinds = Map.groupBy(rows, ({ event, title, group }) => JSON.stringify([event, title, group]));
  const lines = [...kinds.values()].map((each) => lineOf(each, language));
  const [only, other] = lines;
  if (only !== undefined && other === undefined) return { title: only.head, message: only.names };
  return {
    title: counted(rows.length, serviceTexts(language).channel.notifications, language),
    message: lines.map(({ head, names }) => (names === "" ? head : `${head}: ${names}`)).join("\n"),
  };
}

/** One line for notifications of one kind about miners of one group, such as "12 rigs offline in Garage". */
function lineOf(rows: readonly OutboxRow[], language: Language): { readonly head: string; readonly names: string } {
  const { channel, notices } = serviceTexts(language);
  const [first, second] = rows;
  if (first === undefined) return { head: "", names: "" };
  const { event, title, group, miner } = first;
  if (second === undefined) {
    const about = [miner, title].filter((part) => part !== "").join(": ");
    return { head: event === "alarm" ? about : channel.over({ title: about }), names: withOver(first, channel) };
  }
  const shown = rows
    .slice(0, named)
    .map(({ miner, message, over }) =>
      over === null ? miner || message : channel.overWord({ name: miner || message }),
    )
    .join(", ");
  const names = rows.length > named ? channel.more({ names: shown, count: rows.length - named }) : shown;
  if (miner !== "" && title === notices.disconnected.title) {
    const rigs = counted(rows.length, channel.rigs, language);
    if (event === "alarm")
      return { head: group === "" ? channel.offline({ rigs }) : channel.offlineIn({ rigs, group }), names };
    return { head: group === "" ? channel.back({ rigs }) : channel.backIn({ rigs, group }), names };
  }
  const many = counted(rows.length, miner === "" ? channel.notifications : channel.rigs, language);
  const what = group === "" ? many : channel.in({ what: many, group });
  return { head: channel.about({ what, title: event === "alarm" ? title : channel.over({ title }) }), names };
}

const withOver = ({ message, over }: OutboxRow, channel: ServiceTexts["channel"]): string =>
  over === null ? message : `${message}\n${channel.overLine({ message: over })}`;
