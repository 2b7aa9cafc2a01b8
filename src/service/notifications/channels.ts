import { isIPv6 } from "node:net";
import { mostChannels } from "../../config/channels.ts";
import { channelFindings, pathText } from "../../config/cross-checks.ts";
import { ChannelSettings, type ChannelState, commonIssues, shownSettings } from "../../contract/channels.ts";
import { didYouMean } from "../../contract/nearest.ts";
import { invalidAll, type Mistake, RigbridgeError } from "../../contract/problems.ts";
import type { MiningService } from "../../contract/service.ts";
import type { RunStep } from "../../contract/steps.ts";
import { messageOf, worded, wording } from "../../contract/wording.ts";
import { detail } from "../../messages/detail.ts";
import type { OutboxRow, Store, Stored, StoredGroup } from "../../store/index.ts";
import { done, enabled, refuseInUse } from "../crud.ts";
import { addressRefusal } from "../own-address.ts";
import type { Access, AccessBook } from "../users/access.ts";
import { ownerSends, type WebTargets } from "../web-targets.ts";
import type { ChannelBook, ListedChannel } from "./channel-book.ts";
import type { Outbox } from "./outbox.ts";

/** Maximum listed notifications of a channel that could not be delivered. */
const listed = 20;

export interface ChannelOptions {
  readonly book: ChannelBook;
  readonly store: Pick<Store, "channels" | "groups" | "outbox">;
  readonly accessBook: AccessBook;
  readonly outbox: Outbox;
  readonly targets: WebTargets;
  /** Everything that sends notifications, by name, such as `rule Too hot`. */
  notifying(): Iterable<{ readonly what: string; readonly steps: readonly RunStep[] }>;
}

type ChannelOperations = Pick<
  MiningService,
  "listChannels" | "testChannel" | "addChannel" | "changeChannel" | "deleteChannel"
>;

type Fields = Readonly<Record<string, unknown>>;

export function channelOperations(options: ChannelOptions): ChannelOperations {
  const { book, store, outbox, accessBook } = options;

  const found = (keyOrId: string): ListedChannel => {
    const all = book.list();
    const ofKey = all.filter(({ row }) => row.name === keyOrId);
    const channel =
      ofKey.find(({ problem }) => problem === null) ?? ofKey[0] ?? all.find(({ row }) => String(row.id) === keyOrId);
    if (channel !== undefined) return channel;
    const keys = all.map(({ row }) => row.name);
    throw new RigbridgeError("not.found", `There is no channel ${keyOrId}${adviceOn(keyOrId, keys)}`);
  };

  /** Throws with all mistakes. `id`: of the channel that changes. */
  const checked = (fields: Fields, id: number | null): ChannelSettings => {
    const parsed = ChannelSettings.safeParse(fields, worded);
    const taken = book.list().some(({ row }) => row.id !== id && row.name === fields.key);
    const groups = new Set(enabled(store.groups).map(({ name }) => name));
    const issues = parsed.error?.issues ?? [];
    const isTypeWrong = issues.some(({ path }) => path[0] === "type");
    const all = isTypeWrong ? [...issues, ...commonIssues(fields, wording)] : issues;
    const mistakes: Mistake[] = [
      ...all.map((issue) => ({ path: pathText(issue.path), ...messageOf(issue) })),
      ...channelFindings({ path: [], fields }, groups).map((each) => ({ ...each, path: pathText(each.path) })),
    ];
    if (taken) mistakes.push({ path: "key", message: "is the key of another channel" });
    mistakes.push(...addressMistakes(fields, options.targets));
    if (!parsed.success || mistakes.length > 0) throw invalidAll(mistakes);
    return parsed.data;
  };

  /** A channel added over the API. Throws `not.found` and `owned.by-file`. */
  const own = (keyOrId: string): ListedChannel => {
    const channel = found(keyOrId);
    if (channel.row.owner === "store") return channel;
    throw new RigbridgeError("owned.by-file", detail("owned.channel", { channel: channel.row.name }));
  };

  const present = (id: number): ChannelState => {
    const channel = found(String(id));
    return stateOf(
      channel,
      [...store.outbox.rows()].filter((row) => row.channel === channel.row.name),
    );
  };

  return {
    listChannels: async (_input, caller) => {
      const access = accessBook.of(caller);
      if (!access.all) return sharedChannels(book, enabled(store.groups), access);
      const rows = Map.groupBy(store.outbox.rows(), ({ channel }) => channel);
      return book.list().map((channel) => stateOf(channel, rows.get(channel.row.name) ?? []));
    },
    testChannel: async ({ key: keyOrId }) => {
      const { row, problem } = found(keyOrId);
      if (problem !== null)
        throw new RigbridgeError("not.possible", detail("channel.unused", { channel: row.name, why: problem }));
      const outcome = await outbox.test(row.name);
      if (outcome === undefined) throw new RigbridgeError("not.found", `There is no channel ${keyOrId}`);
      if (outcome.kind !== "sent") throw new RigbridgeError("service.refused", `${row.name}: ${outcome.error}`);
      return done(`The test was sent to ${row.name}: ${outcome.answer}`);
    },
    addChannel: async (fields) => {
      if (book.list().length >= mostChannels)
        throw new RigbridgeError("not.possible", detail("channel.most", { count: mostChannels }));
      const settings = checked(fields, null);
      const { id } = await store.channels.add({ name: settings.key, definition: { ...settings } });
      outbox.use(book.used());
      return present(id);
    },
    changeChannel: async ({ key: keyOrId, ...change }) => {
      const { row } = own(keyOrId);
      const merged = Object.entries({ ...row.definition, ...given(change) }).filter(([, value]) => value !== null);
      const settings = checked({ ...Object.fromEntries(merged), key: row.name }, row.id);
      await store.channels.change(row.id, { definition: { ...settings } });
      outbox.use(book.used());
      return present(row.id);
    },
    deleteChannel: async ({ key: keyOrId }) => {
      const { row, problem } = own(keyOrId);
      if (problem === null) refuseInUse(`Channel ${row.name}`, usersOf(row.name, options.notifying()));
      await store.channels.remove(row.id);
      outbox.use(book.used());
      return done(`Channel ${row.name} removed`);
    },
  };
}

const given = (fields: Fields): Fields =>
  Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== undefined));

const usersOf = (key: string, notifying: ReturnType<ChannelOptions["notifying"]>): string[] => [
  ...new Set(
    Array.from(notifying).flatMap(({ what, steps }) =>
      steps.some((step) => "notify" in step && step.notify === key) ? [what] : [],
    ),
  ),
];

/** Addresses that nothing is sent to, such as the service's own. */
function addressMistakes({ url, host }: Fields, targets: WebTargets): Mistake[] {
  const mailServer = typeof host === "string" ? `smtp://${isIPv6(host) ? `[${host}]` : host}` : "";
  const found = {
    url: typeof url === "string" && URL.canParse(url) ? targets.refusal(new URL(url), ownerSends) : null,
    host: URL.canParse(mailServer) ? addressRefusal(new URL(mailServer), () => false) : null,
  };
  return Object.entries(found).flatMap(([path, message]) => (message === null ? [] : [{ path, message }]));
}

const adviceOn = (key: string, keys: readonly string[]): string =>
  didYouMean(key, keys) ||
  (keys.length === 0 ? "; POST /api/channels or the configuration adds one" : `; there are ${keys.join(", ")}`);

function stateOf({ row, settings, problem }: ListedChannel, rows: readonly OutboxRow[]): ChannelState {
  const ended = rows.filter((each) => each.ended !== null).sort((a, b) => (b.ended ?? 0) - (a.ended ?? 0));
  const lastSent = ended.find(({ state }) => state === "sent")?.ended ?? null;
  const last = rows.findLast(({ state, error }) => state === "waiting" && error !== null) ?? ended[0];
  return {
    id: row.id,
    key: row.name,
    owner: row.owner,
    problem,
    type: settings?.type ?? "",
    host: settings === null ? "" : hostOf(settings),
    from: settings?.from ?? "warning",
    groups: settings?.groups ?? null,
    sharedWith: settings?.sharedWith ?? null,
    quiet: settings?.quiet === undefined ? null : `${settings.quiet.from}-${settings.quiet.to}`,
    settings: settings === null ? {} : shownSettings(settings),
    waiting: rows.filter(({ state }) => state === "waiting" || state === "sending").length,
    lastSentUtc: lastSent === null ? null : iso(lastSent),
    lastError: last?.error ?? null,
    notDelivered: ended
      .filter(({ state }) => state === "failed" || state === "unknown")
      .slice(0, listed)
      .map(({ time, title, message, error }) => ({ timeUtc: iso(time), title, message, error: error ?? "" })),
  };
}

/** The channels that a user of some groups or pools may use, without their settings and deliveries. */
function sharedChannels(book: ChannelBook, groups: readonly Stored<StoredGroup>[], access: Access): ChannelState[] {
  const usable = book.usableBy(access);
  const seen = new Set(groups.flatMap(({ id, name }) => (access.seesGroup(id) ? [name] : [])));
  const visible = (names: readonly string[] | null) => names?.filter((name) => seen.has(name)) ?? null;
  return book
    .list()
    .filter(({ row, problem }) => problem === null && usable.has(row.name))
    .map((channel) => {
      const state = stateOf(channel, []);
      return {
        ...state,
        groups: visible(state.groups),
        sharedWith: visible(state.sharedWith),
        host: "",
        settings: {},
      };
    });
}

const hostOf = (settings: ChannelSettings): string => (settings.type === "mail" ? settings.host : hostIn(settings.url));

/** The host, without names that are filled in. */
const hostIn = (url: string): string => new URL(url).host;

const iso = (time: number): string => new Date(time).toISOString();
