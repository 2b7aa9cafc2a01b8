import { networkInterfaces } from "node:os";
import { setTimeout as sleep } from "node:timers/promises";
import { type OperationName, operationNames } from "../contract/operations.ts";
import type { MiningService } from "../contract/service.ts";
import { undoTimeoutMs } from "../link/plugs/plugged-rig.ts";
import { changesTargets } from "./automation/lost-targets.ts";
import { reportDisabled } from "./automation/rights.ts";
import { openAutomation, openCommands } from "./automation-parts.ts";
import { Discoveries } from "./discovery/discovery.ts";
import type { EventView } from "./events/subscriber.ts";
import { FarmRecorder, farmTurnMs } from "./history/farm-recorder.ts";
import { switchingTurnMs } from "./hosts/switcher.ts";
import { marketTurnMs } from "./market/market.ts";
import { minerRows } from "./miners/miner-rows.ts";
import { encodedMiners, minerOperations } from "./miners/miners.ts";
import { summaries } from "./miners/summary.ts";
import { serviceOperations } from "./operations.ts";
import type { ServiceOptions } from "./options.ts";
import { minerContext, openBase, openMiners, openOutbox } from "./parts.ts";
import { byTimer } from "./power/loops.ts";
import { aboutCaller } from "./users/about.ts";
import { guarded } from "./users/guard.ts";
import { keyHolders, withUserName } from "./users/users.ts";

export { Config, checkedConfig, defaultConfig, readConfig } from "../config/index.ts";
export { formatAddress, parseAddress } from "../link/address.ts";
export { openStore, type Store, type StoreOptions } from "../store/index.ts";
export type { DemoMiner } from "./miners/miner-registry.ts";
export type { ServiceOptions } from "./options.ts";

/**
 * The mining service itself: brings the store in line with the configuration and starts polling. `close` stops
 * polling, stores what is left, and leaves the store open.
 */
export async function startService(options: ServiceOptions): Promise<MiningService> {
  const { store, log, demo = [] } = options;
  const base = await openBase(options);
  const { accessBook, events, records } = base;
  const setWarning = (title: string, message: string | null): void => base.notices.setWarning(title, message);
  const miners = openMiners(options, base);
  const { registry, market, ledgers, stopSources } = miners;
  const outbox = openOutbox(options, base, miners);
  const commands = openCommands(options, base, miners);
  const { executor, loops, runs, lostTargets } = commands;
  const rules = openAutomation(options, base, miners, { ...commands, runs: options.runs ?? runs });
  const context = minerContext(options, base, miners);
  const encoded = encodedMiners(context);
  const rows = minerRows({ ...context, changes: events });
  const ofMiners = { ...minerOperations(context), listMinerRows: rows.listMinerRows };
  const summary = summaries({ ...base, ...context });
  const discoveries = new Discoveries({
    settings: options.config.scan,
    accessBook,
    rigs: () => registry.fleet.all(),
    add: (address) => ofMiners.addMiner({ address }, { actor: "service" }),
    notices: base.notices,
    interfaces: options.interfaces ?? networkInterfaces,
    now: base.now,
    log,
  });
  const calls = serviceOperations({
    ...base,
    ...miners,
    ...commands,
    ...rules,
    ...context,
    outbox: outbox.outbox,
    ofMiners,
    summary,
    discoveries,
  });
  const view: EventView = {
    accessOf: (caller) => accessBook.of(caller),
    sees: (minerId, access) => registry.visible(minerId, access) !== undefined,
    seesNotification: (about, access) => registry.seesNotification(about, access),
    current: (minerId) => registry.jsonCache.current(minerId),
    row: rows.changedRow,
    summaryFor: (caller) => calls.getSummary({}, caller),
  };

  const aboutContext = { store, accessBook, display: options.config.display, isDemo: () => registry.isDemoOnly };

  registry.start(demo);
  // A subscriber of the run before knows nothing of this start.
  events.reset();
  await lostTargets.link();
  lostTargets.report();
  await runs.resume();
  reportDisabled(store, accessBook, setWarning);
  const { off } = rules.automation;
  if (off !== null) log.warn(off);
  setWarning("Rules are off", off === null ? null : `${off.charAt(0).toUpperCase()}${off.slice(1)}.`);
  discoveries.start();
  loops.start();
  rules.startRules();
  const { repeat = byTimer } = options;
  const stopSwitching = (options.switchingTurns ?? byTimer)(() => miners.switcher.turn(), switchingTurnMs);
  const farm = new FarmRecorder({
    registry,
    store,
    log,
    now: base.now,
    currency: base.rates.currency,
    history: options.config.history,
    demoStore: records.demoStore,
  });
  const stopRecording = (options.historyTurns ?? byTimer)(() => farm.turn(), farmTurnMs);
  const stopMarket = market.isUsed ? repeat(() => market.turn(), marketTurnMs) : () => undefined;
  return {
    ...guarded(calls, accessBook, withUserName(store), (name) => {
      if (changesTargets(name)) lostTargets.report();
    }),
    checkAccess: (name, caller) => accessBook.check(name, caller),
    watchEvents: (input, caller, signal) => {
      accessBook.check("watchEvents", caller);
      return events.watch(view, input, caller, signal);
    },
    watchMinerRows: (input, caller, signal) => {
      accessBook.check("watchMinerRows", caller);
      return events.watchRows(view, input, caller, signal);
    },
    encodedEvents: (input, caller, signal) => {
      accessBook.check("view" in input ? "watchMinerRows" : "watchEvents", caller);
      return events.encoded(view, input, caller, signal);
    },
    features: async () => everyOperation,
    about: async (caller) => aboutCaller(aboutContext, caller),
    *eachMiner(caller) {
      for (const { facts } of registry.entriesFor(accessBook.of(caller))) yield registry.present(facts.id).miner;
    },
    keyHolder: keyHolders(store),
    setWarning,
    hookDigest: (name) => base.hooks.digestOf(name),
    receiveHook: (name, payload) => base.hooks.receive(name, payload),
    workers: () => registry.workers(),
    knowsAgent: (digest) => base.agents.knows(digest),
    takeOwnAgent: (connection) => {
      const own = base.store.hosts.all().find(({ owner, disabled }) => owner === "file" && !disabled);
      return own === undefined ? undefined : base.agents.takeOwn(own.id, connection);
    },
    takeAgent: (digest, connection) => base.agents.take(digest, connection),
    prepare: (operation, input, caller) => {
      if (operation === "listMiners") return encoded.prepare(input, caller);
      return operation === "listMinerRows" ? rows.prepare(input, caller) : undefined;
    },
    encoded: (operation, input, caller) => {
      if (operation === "getSummary") return summary.encoded(caller);
      if (operation === "listMiners") return encoded.list(input, caller);
      if (operation === "listMinerRows") return rows.encoded(input, caller);
      if (operation === "getMiner" && "id" in input && typeof input.id === "number")
        return encoded.one(input.id, caller);
      return undefined;
    },
    close: async () => {
      events.close();
      stopMarket();
      stopRecording();
      stopSwitching();
      stopSources();
      await discoveries.close();
      const ending = Promise.all([runs.close(), loops.close(), outbox.close()]);
      const commandsEnded = executor.close();
      // A command that must undo what it began needs its connection a moment longer.
      await Promise.race([commandsEnded, sleep(undoTimeoutMs, null, { ref: false })]);
      await registry.close();
      await commandsEnded;
      base.agents.close();
      await ending;
      await rules.closeRules();
      ledgers.close();
      await records.close();
    },
  };
}

const everyOperation: ReadonlySet<OperationName> = new Set(operationNames);
