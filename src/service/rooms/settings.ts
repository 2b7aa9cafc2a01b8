import { networkInterfaces } from "node:os";
import { findBrokers } from "../../discovery/index.ts";
import type { Core } from "../core.ts";
import type { ServiceRoom } from "../room.ts";
import { settingsOperations } from "../settings/operations.ts";
import { trialOf } from "../trials/trials.ts";
import type { Commands } from "./commands.ts";

/** Operations on settings; every room applies changes of the sections that it declares. */
export const openSettings = (core: Core, { executor }: Commands) =>
  ({
    operations: settingsOperations({
      book: core.settingsBook,
      record: (what, caller, change) =>
        executor.record(
          { ...what, parameters: { ...what.parameters }, minerId: 0, minerName: "Settings" },
          caller,
          change,
        ),
      changed: (sections) => core.events.settings(sections),
      restart: core.options.restart ?? null,
      findBrokers: () => findBrokers({ signal: AbortSignal.timeout(10_000) }),
      findTopics: async () => {
        const { mqtt } = core.settingsBook.config;
        if (mqtt === undefined) return [];
        return (await core.options.findTopics?.(mqtt, AbortSignal.timeout(10_000))) ?? [];
      },
      trialOf: (section) =>
        trialOf(section, {
          ...core,
          tryBroker: core.options.tryBroker ?? null,
          tryReceiver: core.options.tryReceiver ?? null,
          interfaces: core.options.interfaces ?? networkInterfaces,
          ownPort: core.options.ownPort ?? (() => null),
          rateOf: (currency) => core.rates.of(currency),
        }),
    }),
  }) satisfies ServiceRoom;
