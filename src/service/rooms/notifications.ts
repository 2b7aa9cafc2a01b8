import type { Core } from "../core.ts";
import { type FacilityPlace, KnownDevices } from "../known-devices.ts";
import { notificationOperations } from "../notifications/notifications.ts";
import { Outbox, turnMs } from "../notifications/outbox.ts";
import { isAddressOf } from "../own-address.ts";
import type { ServiceRoom } from "../room.ts";
import { openWebTargets } from "../web-targets.ts";
import type { Miners } from "./miners.ts";

export type Notifications = ReturnType<typeof openNotifications>;

/** Lists notifications and sends them to channels. */
export function openNotifications(core: Core, { registry, notices, managed }: Miners) {
  const { options, store, log, now, format, accessBook, channels, hooks, repeat } = core;
  const own = core.settings.part("addresses of the service", ["http"]).now;
  const webTargets = openWebTargets({
    devices: new KnownDevices({
      registry,
      managed,
      broker: core.broker.place,
      facility: facilityPlaces(core),
      isOfFile: (id) => store.miners.get(id)?.owner === "file",
    }),
    isOwnAddress: isAddressOf(() => own.http, options.ownPort),
    nameOf: (id) => registry.find(id)?.facts.name,
  });
  const local = core.settings.part("quiet hours", ["display"]).now;
  const outbox = new Outbox({
    rows: store.outbox,
    mayAct: () => store.lease?.mayAct() !== false,
    format,
    now,
    log,
    timeZone: () => local.display.timeZone,
    targets: webTargets,
    groupsOf: (minerId) => groupNames(core, registry.noticeMiner(minerId)?.groupId),
  });
  outbox.use(channels.used());
  core.settings.part("deliveries", ["channels"]).onChange(() => outbox.use(channels.used()));
  notices.watch(outbox);
  let stop = (): void => undefined;
  const { listNotifications, ...clearing } = notificationOperations(
    store,
    notices,
    (about, access) => registry.presence.seesNotification(about, access),
    accessBook,
    format,
  );
  return {
    outbox,
    webTargets,
    operations: {
      listNotifications,
      allNotificationsAction: clearingAlarms(core, clearing.allNotificationsAction),
      notificationsAction: clearingAlarms(core, clearing.notificationsAction),
      notificationAction: clearingAlarms(core, clearing.notificationAction),
    },
    direct: {
      hookDigest: (name) => hooks.digestOf(name),
      receiveHook: (name, payload) => hooks.receive(name, payload),
    },
    start: async (): Promise<void> => {
      await outbox.start();
      stop = repeat(() => outbox.turn(), turnMs);
    },
    settled: () => outbox.settled(),
    close: (): Promise<void> => {
      stop();
      return outbox.close();
    },
  } satisfies ServiceRoom;
}

/** A notification that is cleared while it is open no longer counts as an alarm of its miner. */
const clearingAlarms =
  <Input, Caller, Reply>(
    { alarms, events }: Core,
    operation: (input: Input, caller: Caller) => Promise<Reply>,
  ): ((input: Input, caller: Caller) => Promise<Reply>) =>
  async (input, caller) => {
    const before = alarms.counts();
    const reply = await operation(input, caller);
    for (const [minerId, count] of before) if (alarms.of(minerId) !== count) events.row(minerId);
    return reply;
  };

/** The names of a group and its parents, the innermost first. */
function groupNames({ store: { groups } }: Core, groupId: number | undefined): readonly string[] {
  const names: string[] = [];
  let group = groups.get(groupId ?? 0);
  // A chain cannot be longer than the number of groups, so cycles end.
  for (let depth = 0; group !== undefined && depth < 100; depth += 1) {
    names.push(group.name);
    group = groups.get(group.parentId);
  }
  return names;
}

/** The devices of the building and those that signals are read from: the same list until either changes. */
function facilityPlaces({ devices, settings }: Core): () => readonly FacilityPlace[] {
  const { now } = settings.part("addresses of signals", ["signals"]);
  let [known, declared] = [devices.all(), now.signals];
  const places = (): readonly FacilityPlace[] => [
    ...known,
    ...declared.flatMap((signal) =>
      "address" in signal ? [{ settings: { driver: "modbus", address: signal.address } }] : [],
    ),
  ];
  let list = places();
  return () => {
    if (known !== devices.all() || declared !== now.signals) {
      [known, declared] = [devices.all(), now.signals];
      list = places();
    }
    return list;
  };
}
