import { afterEach, describe, expect, test } from "@jest/globals";
import { RigbridgeError } from "rigbridge";
import {
  type ConnectionOptions,
  FarmConnection,
  type OpenedService,
  type Phase,
} from "../../nodes/shared/farm-connection.ts";
import { caller, kinds, type Opened } from "../contract/kinds.ts";
import { until } from "../until.ts";

const closers: (() => Promise<unknown>)[] = [];
afterEach(async () => {
  for (const close of closers.splice(0).reverse()) await close();
});

async function openKind(kind: { open(): Promise<Opened> }): Promise<Opened> {
  const opened = await kind.open();
  closers.push(() => opened.close());
  return opened;
}

interface Watched {
  readonly connection: FarmConnection;
  readonly logged: string[];
  /** How often the service was opened and closed. */
  readonly counts: { opened: number; closed: number };
}

/** A connection that does not close the service itself. */
function connect({ service }: Opened, options: Partial<ConnectionOptions> = {}): Watched {
  const logged: string[] = [];
  const counts = { opened: 0, closed: 0 };
  const open = async (): Promise<OpenedService> => {
    counts.opened += 1;
    return {
      service,
      caller,
      close: async () => {
        counts.closed += 1;
      },
    };
  };
  const log = { info: () => undefined, warn: (text: string) => logged.push(String(text)) };
  const connection = new FarmConnection({ open, log, lingerMs: 10, ...options });
  closers.push(() => connection.close());
  return { connection, logged, counts };
}

const kindOf = ({ kind }: Phase): string => kind;

describe.each(kinds)("the connection to $name", (kind) => {
  test("is opened for the first member, shared, and closed some time after the last", async () => {
    const { connection, counts } = connect(await openKind(kind));
    expect([connection.phase.kind, counts.opened]).toEqual(["idle", 0]);
    const phases: string[] = [];
    let miners = 0;
    const leaveFirst = connection.join({
      phase: (phase) => phases.push(kindOf(phase)),
      read: (farm) => (miners = farm.miners.size),
    });
    await until(() => miners > 0, "the connection to read the miners");
    expect(phases).toEqual(["idle", "connecting", "connected"]);
    const again: string[] = [];
    const leaveSecond = connection.join({
      phase: (phase) => again.push(kindOf(phase)),
      read: () => again.push("read"),
    });
    expect(again).toEqual(["connected", "read"]);
    leaveFirst();
    leaveSecond();
    await until(() => counts.closed === 1, "the service to be closed after the last member");
    expect([connection.phase.kind, connection.farm, counts.opened]).toEqual(["idle", null, 1]);
  });

  test("stays open over a deploy that closes one node and opens the next", async () => {
    const { connection, counts } = connect(await openKind(kind), { lingerMs: 60_000 });
    const leave = connection.join({});
    await until(() => connection.phase.kind === "connected", "the connection to be established");
    leave();
    connection.join({});
    expect([connection.phase.kind, counts.opened, counts.closed]).toEqual(["connected", 1, 0]);
  });

  test("keeps the farm current", async () => {
    const opened = await openKind(kind);
    const { connection } = connect(opened);
    const seen: number[] = [];
    connection.join({ miner: ({ id }) => seen.push(id) });
    await until(() => connection.phase.kind === "connected", "the connection to be established");
    const { service, farm } = connection.connected();
    await service.minerAction({ id: opened.steered, action: "stop" }, caller);
    opened.pass(60);
    await until(
      () => farm.miners.get(opened.steered)?.statusInfo.statusDisplay === "Stopped",
      "the miner to show as stopped",
    );
    expect(seen).toContain(opened.steered);
  });
});

describe("a connection", () => {
  test("retries until the service opens, and logs the reason once", async () => {
    const [own] = kinds;
    if (own === undefined) throw new Error("there is one");
    const opened = await openKind(own);
    let tries = 0;
    const { connection, logged } = connect(opened, {
      open: async () => {
        tries += 1;
        if (tries < 3) throw new RigbridgeError("store.refused", "The store is in use");
        return { service: opened.service, caller, close: async () => undefined };
      },
    });
    const phases: string[] = [];
    connection.join({ phase: (phase) => phases.push(kindOf(phase)) });
    await until(() => phases.includes("lost"), "the connection to report the failed attempt");
    expect(() => connection.connected()).toThrow("The store is in use");
    await until(() => connection.phase.kind === "connected", "the connection to be established after all");
    expect([logged, tries]).toEqual([["The store is in use"], 3]);
  });

  test("closes even if the service hangs, and notifies no members afterwards", async () => {
    const [own] = kinds;
    if (own === undefined) throw new Error("there is one");
    const opened = await openKind(own);
    const never = new Promise<void>(() => undefined);
    const { connection } = connect(opened, {
      open: async () => ({ service: opened.service, caller, close: () => never }),
    });
    const phases: string[] = [];
    connection.join({ phase: (phase) => phases.push(kindOf(phase)) });
    await until(() => connection.phase.kind === "connected", "the connection to be established");
    const before = phases.length;
    await connection.close();
    expect(phases.length).toBe(before);
    expect(() => connection.connected()).toThrow("has not answered yet");
  });
});
