import type { ChannelSettings } from "../../config/channels.ts";
import { didYouMean } from "../../contract/nearest.ts";
import { RigbridgeError } from "../../contract/problems.ts";
import type { ChannelState } from "../../contract/resources.ts";
import type { MiningService } from "../../contract/service.ts";
import type { OutboxLog, OutboxRow } from "../../store/index.ts";
import { done } from "../crud.ts";
import type { Outbox } from "./outbox.ts";

/** Given-up notifications of a channel that are listed. */
const listed = 20;

export function channelOperations(
  channels: readonly ChannelSettings[],
  log: OutboxLog,
  outbox: Outbox,
): Pick<MiningService, "listChannels" | "testChannel"> {
  return {
    listChannels: async () => {
      const rows = Map.groupBy(log.rows(), ({ channel }) => channel);
      return channels.map((settings) => stateOf(settings, rows.get(settings.key) ?? []));
    },
    testChannel: async ({ key }) => {
      const outcome = await outbox.test(key);
      const keys = channels.map((each) => each.key);
      if (outcome === undefined)
        throw new RigbridgeError("not.found", `There is no channel ${key}${adviceOn(key, keys)}`);
      if (outcome.kind !== "sent") throw new RigbridgeError("service.refused", `${key}: ${outcome.error}`);
      return done(`The test was sent to ${key}: ${outcome.answer}`);
    },
  };
}

const adviceOn = (key: string, keys: readonly string[]): string =>
  didYouMean(key, keys) ||
  (keys.length === 0 ? "; channels in the configuration adds one" : `; there are ${keys.join(", ")}`);

function stateOf(settings: ChannelSettings, rows: readonly OutboxRow[]): ChannelState {
  const { key, type, from, groups = null, quiet } = settings;
  const ended = rows.filter((row) => row.ended !== null).sort((a, b) => (b.ended ?? 0) - (a.ended ?? 0));
  const lastSent = ended.find(({ state }) => state === "sent")?.ended ?? null;
  const problem = rows.findLast(({ state, error }) => state === "waiting" && error !== null) ?? ended[0];
  return {
    ...{ key, type, host: hostOf(settings), from, groups },
    quiet: quiet === undefined ? null : `${quiet.from}-${quiet.to}`,
    waiting: rows.filter(({ state }) => state === "waiting" || state === "sending").length,
    lastSentUtc: lastSent === null ? null : iso(lastSent),
    lastError: problem?.error ?? null,
    notDelivered: ended
      .filter(({ state }) => state === "failed" || state === "unknown")
      .slice(0, listed)
      .map(({ time, title, message, error }) => ({ timeUtc: iso(time), title, message, error: error ?? "" })),
  };
}

const hostOf = (settings: ChannelSettings): string => (settings.type === "mail" ? settings.host : hostIn(settings.url));

/** Without names that are filled in. */
const hostIn = (url: string): string => new URL(url).host;

const iso = (time: number): string => new Date(time).toISOString();
