import { existsSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterEach, describe, expect, jest, test } from "@jest/globals";
import type { NodeAPI, NodeMessage } from "node-red";
import helper from "node-red-node-test-helper";
import registerNotifications from "../../nodes/notification-in/rigbridge-notification-in.ts";
import registerService from "../../nodes/service/rigbridge-service.ts";
import type { ConnectedService } from "../../nodes/shared/farm-connection.ts";
import { connectionAt } from "../../nodes/shared/services.ts";
import { Notification } from "../../src/contract/resources.ts";
import { until } from "../until.ts";
import { type BenchFlow, openFlow } from "./bench-flow.ts";
import type { FlowNode } from "./real-node-red.ts";
import { type OpenedElsewhere, type OpenedForNodes, openElsewhere, serviceKinds } from "./service-kinds.ts";

const closers: (() => Promise<void>)[] = [];
afterEach(async () => {
  for (const close of closers.splice(0).reverse()) await close();
});

type Fields = Readonly<Record<string, unknown>>;

interface Opened extends BenchFlow {
  /** The service, as the nodes reach it. */
  connected(): ConnectedService;
  /** The output of a node, as event and message of each notification. */
  reported(id: string): string[];
}

/** Nodes with these fields, by name: their ids are "<name> in", and their output is at "<name> out". */
async function open(service: OpenedForNodes, nodes: Readonly<Record<string, Fields>>): Promise<Opened> {
  const flow = Object.entries(nodes).flatMap(([id, fields]): FlowNode[] => [
    {
      id: `${id} in`,
      type: "rigbridge-notification-in",
      version: 1,
      service: "service",
      scope: "all",
      interval: 1,
      ...fields,
      wires: [[`${id} out`]],
    },
    { id: `${id} out`, type: "helper" },
  ]);
  const apis: NodeAPI[] = [];
  const { credentials, userDir } = service;
  const registers = [registerService, registerNotifications, (RED: NodeAPI) => void apis.push(RED)];
  const bench = await openFlow(registers, [{ ...service.node }, ...flow], { credentials, userDir });
  closers.push(() => bench.close());
  return {
    ...bench,
    connected: () => {
      const connected = apis[0] && connectionAt(apis[0], "service")?.connected();
      if (connected === undefined) throw new Error("There is no service");
      return connected;
    },
    reported: (id) => bench.recorded(`${id} out`).messages.map(wordsOf),
  };
}

const wordsOf = (msg: NodeMessage): string => {
  const { data } = Notification.safeParse(msg.payload);
  return `${String(Reflect.get(msg, "event"))}: ${data?.message ?? JSON.stringify(msg.payload)}`;
};

const memoryOf = ({ userDir }: OpenedForNodes, id: string): string =>
  join(userDir, "rigbridge", `${id}.notifications.json`);
const hasLooked = (service: OpenedForNodes, id: string): boolean => existsSync(memoryOf(service, id));
/** The highest id of a notification that a node has read. */
const lastSeen = (service: OpenedForNodes, id: string): number =>
  Number(JSON.parse(readFileSync(memoryOf(service, id), "utf8")).lastId);

/** Of the first notification. */
const idOf = ([message]: readonly NodeMessage[]): number => Notification.parse(message?.payload).id;

/** The same once every node has read the list. */
async function openLooked(service: OpenedForNodes, nodes: Readonly<Record<string, Fields>>): Promise<Opened> {
  const bench = await open(service, nodes);
  const remembered = (id: string) => hasLooked(service, `${id} in`);
  await until(() => Object.keys(nodes).every(remembered), "the nodes to read the notifications", {
    details: () => JSON.stringify(Object.keys(nodes).map((id) => bench.recorded(`${id} in`))),
  });
  return bench;
}

const openService = async <T extends OpenedForNodes>(kind: { open(): Promise<T> }): Promise<T> => {
  const service = await kind.open();
  closers.push(() => service.close());
  return service;
};

const elsewhere = (): Promise<OpenedElsewhere> => openService({ open: openElsewhere });
const others = { actor: "somebody else" };

const listed = async ({ service }: OpenedElsewhere): Promise<Notification[]> =>
  (await service.listNotifications({}, others)).notificationList;

describe.each(serviceKinds)("notification in on $name", (kind) => {
  test("reports a new notification with its miner, its acknowledgement and its removal, each once", async () => {
    const opened = await openService(kind);
    const bench = await openLooked(opened, { all: {} });
    opened.switchOff(opened.pooled);
    await until(() => bench.reported("all").length === 1, "the notification about the switched-off miner");
    const { messages } = bench.recorded("all out");
    const id = idOf(messages);
    expect(messages[0]).toMatchObject({
      payload: { minerName: opened.pooled, isAcknowledged: false, isWarning: true },
      event: "new",
      miner: { name: opened.pooled },
      topic: expect.stringMatching(/^[a-z0-9-]+$/),
    });
    const { service, caller } = bench.connected();
    await service.notificationAction({ id, action: "ack" }, caller);
    await until(() => bench.reported("all").length === 2, "the message about the acknowledgement");
    await service.notificationAction({ id, action: "clear" }, caller);
    await until(() => bench.reported("all").length === 3, "the message about the removal");
    expect(bench.recorded("all out").messages.slice(1)).toMatchObject([
      { event: "changed", payload: { id, isAcknowledged: true } },
      { event: "closed", payload: { id, isAcknowledged: true } },
    ]);
    expect(bench.recorded("all in").statuses.at(-1)).toMatch(/^green dot closed: .*\d\d:\d\d$/);
    expect(bench.recorded("all in").errors).toEqual([]);
  });

  test("reports only what matches the filters", async () => {
    const opened = await openService(kind);
    const { pooled, steered, miners } = opened;
    const other = miners.find((name) => name !== pooled && name !== steered);
    const nodes = {
      all: {},
      one: { scope: "miners", miners: `${other}, ${steered}` },
      another: { scope: "miners", miners: pooled },
      text: { text: "DISCONNECTED" },
      pattern: { text: "^nothing like (this|that)$", textKind: "regex" },
      warnings: { warningsOnly: true },
      closed: { tellNew: false, tellChanged: false },
    };
    const bench = await openLooked(opened, nodes);
    opened.switchOff(pooled);
    await until(() => bench.reported("all").length === 1, "the notification about the switched-off miner");
    const id = idOf(bench.recorded("all out").messages);
    // A service without events does not tell of one that is gone before a node has read it.
    const haveSeen = () => Object.keys(nodes).every((name) => lastSeen(opened, `${name} in`) >= id);
    await until(haveSeen, "every node to read the notification");
    const { service, caller } = bench.connected();
    await service.notificationAction({ id, action: "clear" }, caller);
    for (const name of ["all", "another", "text", "warnings"])
      await until(() => bench.reported(name).length === 2, `the message about the removal at node "${name}"`);
    await until(() => bench.reported("closed").length === 1, 'the message about the removal at node "closed"');
    expect([bench.reported("one"), bench.reported("pattern")]).toEqual([[], []]);
  });

  test("acknowledges what it has sent, and does not report that as a change", async () => {
    const opened = await openService(kind);
    const bench = await openLooked(opened, { all: { acknowledge: true } });
    opened.switchOff(opened.pooled);
    await until(() => bench.reported("all").length === 1, "the notification about the switched-off miner");
    const { service, caller } = bench.connected();
    const id = idOf(bench.recorded("all out").messages);
    await until(async () => {
      const { notificationList } = await service.listNotifications({}, caller);
      return notificationList.some((each) => each.id === id && each.isAcknowledged);
    }, "the node to acknowledge the notification");
    await service.notificationAction({ id, action: "clear" }, caller);
    await until(() => bench.reported("all").length === 2, "the message about the removal");
    expect(bench.recorded("all out").messages).toMatchObject([
      { event: "new", payload: { isAcknowledged: false } },
      { event: "closed", payload: { isAcknowledged: true } },
    ]);
  });
});

describe("notification in", () => {
  test("reports changes made while the service was away, once", async () => {
    const opened = await elsewhere();
    const bench = await openLooked(opened, { all: {} });
    await opened.away();
    opened.switchOff("Rig B");
    await until(async () => (await listed(opened)).length === 1, "the service to list the notification about Rig B");
    opened.switchOff("Rig C");
    await until(async () => (await listed(opened)).length === 2, "the service to list the notification about Rig C");
    expect(bench.reported("all")).toEqual([]);
    await opened.back();
    await until(() => bench.reported("all").length === 2, "both missed notifications at the node");
    expect(bench.recorded("all out").messages).toMatchObject([
      { event: "new", payload: { minerName: "Rig B" } },
      { event: "new", payload: { minerName: "Rig C" } },
    ]);
    await opened.service.allNotificationsAction({ action: "clear_all" }, others);
    await until(() => bench.reported("all").length === 4, "the messages about both removals");
    expect(bench.recorded("all out").messages.slice(2)).toMatchObject([{ event: "closed" }, { event: "closed" }]);
  });

  test("reports after a restart what came in between, once, and asks the service only for that", async () => {
    const opened = await elsewhere();
    const first = await openLooked(opened, { all: {} });
    opened.switchOff("Rig B");
    await until(() => first.reported("all").length === 1, "the notification about Rig B");
    await closers.pop()?.();
    opened.switchOff("Rig C");
    await until(async () => (await listed(opened)).length === 2, "the service to list the notification about Rig C");
    const asked = jest.spyOn(opened.service, "listNotifications");
    const second = await open(opened, { all: { interval: 3600 } });
    await until(() => second.reported("all").length > 0, "the notification about Rig C");
    expect(second.recorded("all out").messages).toMatchObject([{ event: "new", payload: { minerName: "Rig C" } }]);
    const [newest, oldest] = await listed(opened);
    expect([newest?.minerName, oldest?.minerName]).toEqual(["Rig C", "Rig B"]);
    expect(asked.mock.calls.map(([input]) => input)).toContainEqual({ since: oldest?.id });
  });

  test("reports an acknowledgement and a removal without waiting for the next poll, and no new alarm", async () => {
    const opened = await elsewhere();
    const bench = await openLooked(opened, { all: { interval: 3600 } });
    opened.switchOff("Rig B");
    opened.switchOff("Rig C");
    await until(() => bench.reported("all").length === 2, "the notifications about both rigs");
    await opened.service.allNotificationsAction({ action: "ack_all" }, others);
    await until(() => bench.reported("all").length === 4, "the messages about both acknowledgements");
    await opened.service.allNotificationsAction({ action: "clear_all" }, others);
    await until(() => bench.reported("all").length === 6, "the messages about both removals");
    const events = bench.recorded("all out").messages.map((msg) => Reflect.get(msg, "event"));
    expect(events).toEqual(["new", "new", "changed", "changed", "closed", "closed"]);
  });

  test("starts anew with a broken file, and removes the file of a deleted node", async () => {
    const opened = await elsewhere();
    const file = join(opened.userDir, "rigbridge", "all in.notifications.json");
    mkdirSync(join(opened.userDir, "rigbridge"));
    writeFileSync(file, '{"service": "serv');
    const bench = await open(opened, { all: {} });
    await until(() => readFileSync(file, "utf8").includes('"lastId":0'), "the node to read the notifications");
    opened.switchOff("Rig B");
    await until(() => bench.reported("all").length === 1, "the notification about Rig B");
    // As Node-RED closes a deleted node; the types leave out the parameter.
    await Reflect.apply(helper.getNode("all in").close, helper.getNode("all in"), [true]);
    await until(() => !existsSync(file), "the file of the deleted node to be removed");
  });

  test("reports open notifications at the first start, if configured", async () => {
    const opened = await elsewhere();
    opened.switchOff("Rig B");
    await until(async () => (await listed(opened)).length === 1, "the service to list the notification about Rig B");
    const bench = await openLooked(opened, { reported: { openAtFirst: true }, unreported: {} });
    await until(() => bench.reported("reported").length === 1, "the message about the notification already open");
    await opened.service.allNotificationsAction({ action: "clear_all" }, others);
    await until(
      () => bench.reported("reported").length === 2 && bench.reported("unreported").length === 1,
      "the message about the removal at both nodes",
    );
    expect(bench.reported("unreported")).toEqual([expect.stringMatching(/^closed: /)]);
  });

  test("reports only a group's notifications", async () => {
    const opened = await elsewhere();
    const bench = await openLooked(opened, {
      "hall a": { scope: "group", group: "Hall A" },
      "hall b": { scope: "group", group: "hall b" },
    });
    opened.switchOff("Rig C");
    await until(() => bench.reported("hall b").length === 1, "the notification at the node of Hall B");
    await opened.service.allNotificationsAction({ action: "clear_all" }, others);
    await until(() => bench.reported("hall b").length === 2, "the message about the removal at Hall B");
    expect(bench.reported("hall a")).toEqual([]);
  });

  test("sends no more than the limit, and counts the rest", async () => {
    const opened = await elsewhere();
    const bench = await openLooked(opened, { all: { limit: 1, acknowledge: true } });
    opened.switchOff("Rig B");
    await until(() => bench.reported("all").length === 1, "the notification about Rig B");
    opened.switchOff("Rig C");
    await until(
      () => /^red dot 1 more notifications, over the limit/.test(bench.recorded("all in").statuses.at(-1) ?? ""),
      "the node to count the notification over the limit",
    );
    await until(
      async () => (await listed(opened)).some(({ isAcknowledged }) => isAcknowledged),
      "the node to acknowledge the notification about Rig B",
    );
    expect(await listed(opened)).toMatchObject([
      { minerName: "Rig C", isAcknowledged: false },
      { minerName: "Rig B", isAcknowledged: true },
    ]);
    expect(bench.reported("all")).toHaveLength(1);
  });

  test("reports that it may not acknowledge, and sends anyway", async () => {
    const opened = await elsewhere();
    const visitor = { ...opened, node: { ...opened.node, user: "visitor" } };
    const bench = await openLooked(visitor, { all: { acknowledge: true } });
    opened.switchOff("Rig B");
    await until(() => bench.recorded("all in").errors.length === 1, "the error about the refused acknowledgement");
    expect(bench.reported("all")).toHaveLength(1);
    expect(bench.recorded("all in").errors[0]).toMatchObject({
      code: "user.forbidden",
      message: expect.stringMatching(/^The notification cannot be acknowledged: /),
    });
    expect(bench.recorded("all in").statuses.some((text) => /^red dot The notification cannot/.test(text))).toBe(true);
  });

  test("reports an unknown miner to Catch nodes, and sends the missed notifications once it exists", async () => {
    const opened = await elsewhere();
    const bench = await open(opened, { all: { scope: "miners", miners: "whose", minersType: "global" } });
    const { global } = helper.getNode("all in").context();
    global.set("whose", "Rig B");
    await until(() => hasLooked(opened, "all in"), "the node to read the notifications");
    global.set("whose", "Nobody");
    await until(
      () => bench.recorded("all in").errors.some(({ code }) => code === "not.found"),
      "the error about the unknown miner",
    );
    expect(bench.recorded("all in").errors.at(-1)?.message).toBe('Miners: unknown miner "Nobody"');
    expect(bench.recorded("all in").statuses.at(-1)).toMatch(/^red dot Miners: unknown miner/);
    opened.switchOff("Rig B");
    await until(async () => (await listed(opened)).length === 1, "the service to list the notification about Rig B");
    expect(bench.reported("all")).toEqual([]);
    global.set("whose", "Rig B");
    await until(() => bench.reported("all").length === 1, "the notification that was held back");
    expect(bench.recorded("all in").errors.filter(({ code }) => code === "not.found")).toHaveLength(1);
  });

  test.each([
    [{ text: "(", textKind: "regex" }, /^Text: is not a regular expression: /],
    [{ text: "x".repeat(201) }, /^Text: is too long$/],
    [{ limit: "many" }, /^Limit: must be a number in the allowed range$/],
    [{ interval: 0 }, /^Interval: must be a number in the allowed range$/],
    [{ warningsOnly: "yes" }, /^Warnings only: has the wrong type$/],
    [{ scope: "some" }, /^For: is missing$/],
    [{ service: "none" }, /^Service: choose a service and deploy$/],
    [{ version: 2 }, /^This node was configured by a newer version/],
  ])("with %j stands still and gives the reason", async (fields, problem) => {
    const opened = await elsewhere();
    const bench = await open(opened, { wrong: fields, right: {} });
    await until(
      () => bench.recorded("right in").statuses.at(-1) === "green dot connected",
      "the node with correct fields to connect",
    );
    expect(bench.recorded("wrong in").warnings).toEqual([expect.stringMatching(problem)]);
    expect(bench.recorded("wrong in").statuses).toEqual([expect.stringMatching(/^red dot /)]);
  });
});
