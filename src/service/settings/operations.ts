import type { Config } from "../../config/schema.ts";
import { RigbridgeError } from "../../contract/problems.ts";
import type { Caller, MiningService } from "../../contract/service.ts";
import type {
  BrokerList,
  SettingsChange,
  SettingsFinding,
  SettingsSection,
  TopicList,
} from "../../contract/settings.ts";
import { detail } from "../../messages/detail.ts";
import { effectsOf } from "./effects.ts";
import type { SettingsBook, SettingsPlan } from "./settings-book.ts";

export interface SettingsContext {
  readonly book: SettingsBook;
  /** Makes a change and records it in the audit; `parameters` are without secrets. */
  readonly record: (
    what: { readonly action: string; readonly parameters: Readonly<Record<string, string>> },
    caller: Caller,
    change: () => Promise<string>,
  ) => Promise<string>;
  /** Notifies other pages. */
  readonly changed: (sections: readonly string[]) => void;
  /** Restarts everything in this process with the present file; null where that is not possible. */
  readonly restart: (() => Promise<() => void>) | null;
  /** Looks for brokers on the network; never rejects. */
  readonly findBrokers: () => Promise<BrokerList["brokers"]>;
  /** Topics at the broker in effect whose messages contain a number. */
  readonly findTopics: () => Promise<TopicList["topics"]>;
  /** How to test a section; null where there is nothing to test. */
  readonly trialOf: (section: SettingsSection) => ((config: Config) => Promise<SettingsFinding[]>) | null;
}

type SettingsOperations = Pick<
  MiningService,
  | "listSettings"
  | "saveSettings"
  | "testSettings"
  | "resetSettings"
  | "undoSettings"
  | "reloadSettings"
  | "findBrokers"
  | "findTopics"
>;

export function settingsOperations({
  book,
  record,
  changed,
  restart,
  trialOf,
  findBrokers,
  findTopics,
}: SettingsContext): SettingsOperations {
  /** Changes run one after the other, so that each is checked against the result of the previous one. */
  let last: Promise<unknown> = Promise.resolve();
  let trying = 0;
  const brokers = shared(findBrokers);
  const topics = shared(findTopics);
  const inTurn = <T>(change: () => Promise<T>): Promise<T> => {
    const turn = last.then(change);
    last = turn.catch(() => undefined);
    return turn;
  };

  const carryOut = async (
    plan: SettingsPlan,
    action: string,
    dryRun: boolean,
    caller: Caller,
  ): Promise<SettingsChange> => {
    const { section, changes } = plan;
    const effects = effectsOf(section, book.config, plan.config);
    const said = {
      changes: [...changes],
      effects: effects.map(({ text }) => text),
      codedEffects: effects.map(({ coded }) => coded),
    };
    if (dryRun || plan.isSaved) return { section: book.state(section, plan.config), ...said, saved: false };
    const parameters = { section, changes: changes.join("; ").slice(0, longestChanges) };
    await record({ action, parameters }, caller, async () => {
      await book.apply(plan);
      return changes.length === 0 ? "Saved; nothing differs" : `Saved: ${changes.length} changed`;
    });
    changed([section]);
    return { section: book.state(section), ...said, saved: true };
  };

  return {
    findBrokers: async () => ({ brokers: [...(await brokers())] }),
    findTopics: async () => ({ topics: [...(await topics())] }),
    listSettings: async () => ({ sections: book.list() }),
    saveSettings: ({ section, value, revision, dryRun = false }, caller) =>
      inTurn(() => carryOut(book.plan(section, value, revision), "save_settings", dryRun, caller)),
    testSettings: async ({ section, value }) => {
      const trial = trialOf(section);
      if (trial === null) throw new RigbridgeError("nothing.to.do", detail("settings.noTrial", { section }));
      const config = book.draft(section, value);
      if (trying === mostTrials) throw new RigbridgeError("too.many", detail("settings.trying"));
      trying += 1;
      const findings = await trial(config).finally(() => {
        trying -= 1;
      });
      return { section, findings };
    },
    resetSettings: ({ section, dryRun = false }, caller) =>
      inTurn(() => carryOut(book.planRemoval(section), "reset_settings", dryRun, caller)),
    undoSettings: ({ section }, caller) =>
      inTurn(() => carryOut(book.planUndo(section), "undo_settings", false, caller)),
    reloadSettings: (_input, caller) =>
      inTurn(async () => {
        const { keys, isLive: fileIsLive, apply } = await book.reread();
        const waiting = book.waiting;
        if (keys.length === 0 && waiting.length === 0)
          return { changed: [], message: "The configuration file says the same as before" };
        const isLive = fileIsLive && waiting.length === 0;
        const list = [...new Set([...keys, ...waiting])].join(", ");
        const parameters = { changed: list.slice(0, longestChanges) };
        if (!isLive && restart === null)
          throw new RigbridgeError("not.possible", detail("settings.restart", { keys: list }));
        let message = `Changed: ${list}`;
        await record({ action: "reload", parameters }, caller, async () => {
          if (isLive || restart === null) await apply();
          else {
            const go = await restart();
            // After the answer is sent.
            setTimeout(go, 100);
            message = `Changed: ${list}; the service restarts with them`;
          }
          return message;
        });
        changed(keys);
        return { changed: [...keys], message };
      }),
  };
}

/** Concurrent requests share one search. */
function shared<T>(search: () => Promise<T>): () => Promise<T> {
  let searching: Promise<T> | null = null;
  return () => {
    searching ??= search().finally(() => {
      searching = null;
    });
    return searching;
  };
}

const mostTrials = 4;
/** Characters of a change that the audit keeps. */
const longestChanges = 2_000;
