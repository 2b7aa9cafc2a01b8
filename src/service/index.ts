import { type OperationName, operationNames } from "../contract/operations.ts";
import type { Caller, MiningService } from "../contract/service.ts";
import { changesTargets } from "./automation/lost-targets.ts";
import { openCore } from "./core.ts";
import { removeDemo } from "./demo/demo-rows.ts";
import { IdempotentCalls } from "./idempotent-calls.ts";
import type { ServiceOptions } from "./options.ts";
import { settledRooms, startRooms } from "./room.ts";
import { openActions } from "./rooms/actions.ts";
import { openAutomation } from "./rooms/automation.ts";
import { openChannels } from "./rooms/channels.ts";
import { openCommands } from "./rooms/commands.ts";
import { openCurtailment } from "./rooms/curtailment.ts";
import { openDiscovery } from "./rooms/discovery.ts";
import { openEvents } from "./rooms/events.ts";
import { openFacility } from "./rooms/facility.ts";
import { openHistory } from "./rooms/history.ts";
import { openHosts } from "./rooms/hosts.ts";
import { openImports } from "./rooms/imports.ts";
import { openMiners } from "./rooms/miners.ts";
import { openMoney } from "./rooms/money.ts";
import { openNotifications } from "./rooms/notifications.ts";
import { openPower } from "./rooms/power.ts";
import { openRules } from "./rooms/rules.ts";
import { openSettings } from "./rooms/settings.ts";
import { openUsers } from "./rooms/users.ts";
import type { SiteTokenCalls } from "./site-tokens.ts";
import type { Access } from "./users/access.ts";
import { guarded } from "./users/guard.ts";
import { withUserName } from "./users/users.ts";

export { Config, checkedConfig, defaultConfig, readConfig } from "../config/index.ts";
export { formatAddress, parseAddress } from "../link/address.ts";
export { openStore, type Store, type StoreOptions } from "../store/index.ts";
export { type Demo, type DemoHostRow, openDemo } from "./demo/demo.ts";
export type { ServiceOptions } from "./options.ts";
export { type LiveSettings, present, type Sections, type SettingsPart } from "./settings/live-settings.ts";
export { SettingsBook, type SettingsSource } from "./settings/settings-book.ts";

export type RunningService = MiningService & {
  /**
   * Resolves when no read, command, run, search or message is in progress, including those started by rules and loops.
   */
  settled(): Promise<void>;
  /** Throws `not.found` for an unknown user. */
  accessOf(caller: Caller): Access;
  /** Has a centre over this service make and revoke the tokens of its sites. */
  useSiteTokens(centre: SiteTokenCalls): void;
};

/**
 * The mining service: brings the store in line with the configuration and starts polling. `close` stops polling, stores
 * the remaining data, and leaves the store open.
 */
export async function startService(options: ServiceOptions): Promise<RunningService> {
  const core = await openCore(options);
  const miners = openMiners(core);
  const { market } = miners;
  const money = openMoney(core, miners);
  const notifications = openNotifications(core, miners);
  const commands = openCommands(core, miners);
  const power = openPower(core, miners, commands);
  const facility = openFacility(core, miners, commands);
  const automation = openAutomation(core, { miners, money, notifications, commands, power });
  const rules = openRules(core, miners, money, automation);
  const curtailment = openCurtailment(core, miners, commands, rules, automation);
  const actions = openActions(core, miners, commands, power, automation, rules);
  const channels = openChannels(core, notifications, rules);
  const hosts = openHosts(core, miners);
  const history = openHistory(core, miners);
  const discovery = openDiscovery(core, miners);
  const imports = openImports(core, miners);
  const users = openUsers(core, miners);
  const events = openEvents(core, miners);
  const settings = openSettings(core, commands);

  const rooms = [
    core,
    // Started before the miners, so that channels get their changes since the last run.
    notifications,
    miners,
    commands,
    power,
    facility,
    automation,
    users,
    rules,
    curtailment,
    discovery,
    hosts,
    history,
    market,
    events,
  ];
  const close = await startRooms(rooms);

  const calls = {
    ...core.operations,
    ...miners.operations,
    ...market.operations,
    ...money.operations,
    ...notifications.operations,
    ...commands.operations,
    ...power.operations,
    ...facility.operations,
    ...automation.operations,
    ...rules.operations,
    ...curtailment.operations,
    ...actions.operations,
    ...channels.operations,
    ...hosts.operations,
    ...history.operations,
    ...discovery.operations,
    ...imports.operations,
    ...users.operations,
    ...settings.operations,
  };
  const { demo } = options;
  if (demo !== undefined)
    core.onDemoLeft(async () => {
      await removeDemo(demo, calls);
      demo.store.leave();
      miners.registry.arrange();
      miners.registry.changeAll();
      core.events.reset();
      await demo.left?.();
    });
  return {
    ...guarded(
      calls,
      core.accessBook,
      withUserName(core.store),
      core.definitions.inTurn(new IdempotentCalls(core.store.idempotency).once),
      (name) => {
        if (changesTargets(name)) automation.lostTargets.report();
      },
    ),
    ...miners.direct,
    ...notifications.direct,
    ...hosts.direct,
    ...users.direct,
    ...events.direct,
    features: async () => everyOperation,
    settled: () => settledRooms(rooms),
    accessOf: (caller) => core.accessBook.of(caller),
    useSiteTokens: (centre) => core.siteTokens.use(centre),
    close,
  };
}

const everyOperation: ReadonlySet<OperationName> = new Set(operationNames);
