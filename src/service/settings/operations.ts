import type { Config } from "../../config/schema.ts";
import { RigbridgeError } from "../../contract/problems.ts";
import type { Caller, MiningService } from "../../contract/service.ts";
import type { BrokerList, SettingsChange, SettingsFinding, SettingsSection } from "../../contract/settings.ts";
import { detail } from "../../messages/detail.ts";
import { effectsOf } from "./effects.ts";
import type { SettingsBook, SettingsPlan } from "./settings-book.ts";

export interface SettingsContext {
  readonly book: SettingsBook;
  /** Makes a change and keeps it in the activity; `parameters` are without secrets. */
  readonly record: (
    what: { readonly action: string; readonly parameters: Readonly<Record<string, string>> },
    caller: Caller,
    change: () => Promise<string>,
  ) => Promise<string>;
  /** Tells other pages. */
  readonly changed: (sections: readonly string[]) => void;
  /** Starts everything anew in this process with the file as it is now; null where nothing can. */
  readonly restart: (() => Promise<() => void>) | null;
  /** Looks for brokers on the network; never rejects. */
  readonly findBrokers: () => Promise<BrokerList["brokers"]>;
  /** How a section is tried; null where there is nothing to try. */
  readonly trialOf: (section: SettingsSection) => ((config: Config) => Promise<SettingsFinding[]>) | null;
}

type SettingsOperations = Pick<
  MiningService,
  "listSettings" | "saveSettings" | "testSettings" | "resetSettings" | "undoSettings" | "reloadSettings" | "findBrokers"
>;

export function settingsOperations({
  book,
  record,
  changed,
  restart,
  trialOf,
  findBrokers,
}: SettingsContext): SettingsOperations {
  /** One change after the other, so that each is checked against what the one before has left. */
  let last: Promise<unknown> = Promise.resolve();
  let trying = 0;
  /** Those who ask meanwhile get the same. */
  let searching: Promise<BrokerList["brokers"]> | null = null;
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
    if (dryRun || plan.isSaved)
      return { section: book.state(section, plan.config), changes: [...changes], effects, saved: false };
    const parameters = { section, changes: changes.join("; ").slice(0, longestChanges) };
    await record({ action, parameters }, caller, async () => {
      await book.apply(plan);
      return changes.length === 0 ? "Saved; nothing differs" : `Saved: ${changes.length} changed`;
    });
    changed([section]);
    return { section: book.state(section), changes: [...changes], effects, saved: true };
  };

  return {
    findBrokers: async () => {
      searching ??= findBrokers().finally(() => {
        searching = null;
      });
      return { brokers: [...(await searching)] };
    },
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
            // After the answer.
            setTimeout(go, 100);
            message = `Changed: ${list}; the service starts anew with them`;
          }
          return message;
        });
        changed(keys);
        return { changed: [...keys], message };
      }),
  };
}

const mostTrials = 4;
/** Characters of what the activity keeps of a change. */
const longestChanges = 2_000;
