import { describe, expect, jest, test } from "@jest/globals";
import { type Group, type Miner, RigbridgeError } from "rigbridge";
import { z } from "zod";
import { toRequest } from "../../nodes/miner-action/to-service-call.ts";
import { count, figure, readConfig, required } from "../../nodes/shared/config.ts";
import { forNodeRed, ofMiner, toRigbridgeError } from "../../nodes/shared/faults.ts";
import { chosenMiners, groupPath } from "../../nodes/shared/miner-choice.ts";
import { MinerMutex } from "../../nodes/shared/miner-mutex.ts";
import { NodeStatus } from "../../nodes/shared/node-status.ts";
import { throttledLog } from "../../nodes/shared/throttled-log.ts";
import { within } from "../until.ts";
import { english } from "./english.ts";

describe("the configuration of a node", () => {
  const schema = z.object({
    service: required,
    seconds: figure(1, 60, 30),
    rigs: z.array(z.object({ address: required })),
  });
  const kind = { version: 3, migrations: [], schema };
  const mistake = (raw: object): string => {
    try {
      readConfig(kind, { version: 3, service: "s", rigs: [], ...raw });
    } catch (error) {
      return toRigbridgeError(error, english).message;
    }
    return "";
  };

  test("is migrated step by step from its version", () => {
    const migrations = [
      ({ host, ...raw }: Readonly<Record<string, unknown>>) => ({ ...raw, url: `http://${host}` }),
      ({ url, ...raw }: Readonly<Record<string, unknown>>) => ({ ...raw, url: `${url}:17790` }),
    ];
    const versioned = { version: 3, migrations, schema: z.object({ url: z.string() }) };
    expect(readConfig(versioned, { version: 1, host: "a" })).toEqual({ url: "http://a:17790" });
    expect(readConfig(versioned, { host: "a" })).toEqual({ url: "http://a:17790" });
    expect(readConfig(versioned, { version: 2, url: "http://b" })).toEqual({ url: "http://b:17790" });
    expect(readConfig(versioned, { version: 3, url: "c" })).toEqual({ url: "c" });
  });

  test("accepts numbers as the editor stores them", () => {
    const numbers = z.object({ a: figure(0, 9, 5), b: count(0, 9, 5), c: count(0, 9, 5) });
    expect(readConfig({ version: 1, migrations: [], schema: numbers }, { a: "1.5", b: "", c: 7 })).toEqual({
      a: 1.5,
      b: 5,
      c: 7,
    });
  });

  test("names the wrong field", () => {
    expect(mistake({ service: " " })).toBe("Service: is missing");
    expect(mistake({ service: 7 })).toBe("Service: has the wrong type");
    expect(mistake({ rigs: [{ address: "a" }, { address: "" }] })).toBe("Rigs 2: is missing");
    expect(mistake({ service: "", seconds: 0 })).toBe(
      "Service: is missing; field.seconds: must be a number in the allowed range",
    );
    expect(mistake({ version: 4 })).toMatch(/configured by a newer version/);
    expect(mistake({ seconds: "61" })).toMatch(/must be a number in the allowed range$/);
  });
});

const miner = (id: number, name: string, more: Partial<Miner> = {}): Miner => {
  const known = { id, uid: `uid-${id}`, name, hostDescription: `10.0.0.${id}:4028`, groupId: 0, ...more };
  return Object.assign(Object.create(null), known);
};
const group = (id: number, name: string, parentId = 0): Group => ({ id, name, parentId });

describe("the selected miners", () => {
  const miners = [
    miner(1, "Rig A"),
    miner(2, "rig b", { groupId: 5 }),
    miner(3, "Twin"),
    miner(4, "Twin", { groupId: 6 }),
    miner(5, "3"),
    miner(6, "Left, right"),
  ];
  const groups = [group(5, "Site"), group(6, "Hall", 5), group(7, "Barn"), group(8, "Hall", 7)];
  const farm = { miners: new Map(miners.map((each) => [each.id, each])), groups };
  const ids = (given: unknown): readonly number[] =>
    chosenMiners(farm, { scope: "miners", miners: given }).map(({ id }) => id);
  const inGroup = (given: unknown): readonly number[] =>
    chosenMiners(farm, { scope: "group", group: given }).map(({ id }) => id);

  test.each([
    ["Rig A", [1]],
    ["RIG B", [2]],
    ["uid-3", [3]],
    ["UID-3", [3]],
    [3, [3]],
    ["3", [3]],
    ["10.0.0.4:4028", [4]],
    ["10.0.0.4", [4]],
    ["Rig A, rig b", [1, 2]],
    ["Left, right", [6]],
    [
      ["Left, right", 1],
      [6, 1],
    ],
    ["Rig A, uid-1", [1]],
    [{ id: 4, uid: "uid-4", name: "Twin" }, [4]],
    [{ id: 4, uid: null }, [4]],
    [
      [{ id: 1, uid: "uid-1" }, "rig b"],
      [1, 2],
    ],
  ])("by %j are %j", (given, expected) => expect(ids(given)).toEqual(expected));

  test.each([
    ["Nobody", "not.found", 'Miners: unknown miner "Nobody"'],
    ["Rig A, Nobody", "not.found", 'Miners: unknown miner "Nobody"'],
    ["Rig AA", "not.found", 'Miners: unknown miner "Rig AA"; did you mean "Rig A"?'],
    ["Twin", "input.invalid", 'Miners: 2 miners match "Twin"; use the uid: uid-3, uid-4'],
    ["", "input.invalid", "Miners: is empty"],
    [" , ", "input.invalid", "Miners: is empty"],
    [[], "input.invalid", "Miners: is empty"],
    [undefined, "input.invalid", "Miners: must be a name, id or uid, or a list of them"],
    [{ name: "Rig A" }, "input.invalid", "Miners: must be a name, id or uid, or a list of them"],
    [true, "input.invalid", "Miners: must be a name, id or uid, or a list of them"],
  ])("by %j are refused as %s", (given, code, message) => {
    expect(refusal(() => ids(given))).toEqual({ code, message });
  });

  test("of a group include its subgroups", () => {
    expect(inGroup("Site")).toEqual([2, 4]);
    expect(inGroup(6)).toEqual([4]);
    expect(inGroup("site / hall")).toEqual([4]);
    expect(refusal(() => inGroup("Hall")).message).toBe(
      'Group: several groups match "Hall"; use the path: Site / Hall (6), Barn / Hall (8)',
    );
    expect(refusal(() => inGroup("Attic"))).toEqual({ code: "not.found", message: 'Group: unknown group "Attic"' });
    expect(refusal(() => inGroup("Barn"))).toEqual({
      code: "not.found",
      message: 'The group "Barn" contains no miners',
    });
  });

  test("of groups inside each other do not loop", () => {
    expect(groupPath([group(1, "A", 2), group(2, "B", 1)], group(1, "A", 2))).toBe("B / A");
  });
});

function refusal(work: () => unknown): { code: string; message: string } {
  const { code, message } = toRigbridgeError(refused(work), english);
  return { code, message };
}

describe("the status of a node", () => {
  const open = () => {
    const shown: string[] = [];
    const status = new NodeStatus({
      show: (each) => shown.push(typeof each === "string" ? each : `${each.fill} ${each.shape} ${each.text}`),
      translate: english,
      now: () => new Date(2026, 0, 1, 14, 5).getTime(),
    });
    return { shown, status };
  };
  const lost = { kind: "lost", error: new RigbridgeError("service.unreachable", "a long story") } as const;

  test("shows connection problems first, then running work, then the last result, and nothing twice", async () => {
    const { shown, status } = open();
    status.phase({ kind: "connecting" });
    status.phase({ kind: "connecting" });
    status.phase({ kind: "connected" });
    await status.during(async () => status.done("Rig A: restarted"));
    status.phase(lost);
    status.waiting(2);
    status.waiting(0);
    status.phase({ kind: "connected" });
    status.failed("no\nmore");
    expect(shown).toEqual([
      "yellow ring connecting",
      "green dot connected",
      "blue dot working",
      "green dot Rig A: restarted · 14:05",
      "red ring not connected: no answer",
      "red ring not connected: no answer · 2 waiting",
      "red ring not connected: no answer",
      "green dot connected",
      "red dot no · 14:05",
    ]);
  });

  test("never passes an earlier result on the way to a failure, and keeps the failure while the service is away", async () => {
    const { shown, status } = open();
    status.phase({ kind: "connected" });
    status.done("Rig A: restarted");
    await status
      .during(() => Promise.reject(new Error("Rig A refuses")))
      .catch((error: Error) => status.failed(error.message));
    status.phase(lost);
    status.done("a guess");
    status.phase({ kind: "connected" });
    expect(shown).toEqual([
      "green dot connected",
      "green dot Rig A: restarted · 14:05",
      "blue dot working",
      "red dot Rig A refuses · 14:05",
      "red ring not connected: no answer",
      "red dot Rig A refuses · 14:05",
    ]);
  });

  test("keeps its figures when it is cut", () => {
    const { shown, status } = open();
    status.phase({ kind: "connected" });
    status.done(`${"A rig with a long name ".repeat(4)}: Mining`, "95.1 TH/s, 3.2 kW, 68 °C");
    const text = shown.at(-1) ?? "";
    expect(text).toMatch(/^green dot A rig with a long name .*… · 95\.1 TH\/s, 3\.2 kW, 68 °C · 14:05$/);
    expect(text.length).toBeLessThanOrEqual("green dot ".length + 60 + " · 14:05".length);
  });
});

describe("an error", () => {
  const messageOf = (error: unknown) => toRigbridgeError(error, english).message;

  test("names the known name that was probably meant", () => {
    expect(messageOf(refused(() => toRequest("restrat", undefined)))).toBe(
      'Action: unknown action "restrat"; did you mean "restart"?',
    );
    expect(messageOf(refused(() => toRequest("make coffee", undefined)))).toBe('Action: unknown action "make coffee"');
  });

  test("shows in Node-RED without the name of its class", () => {
    expect(messageOf(new TypeError("it is broken"))).toBe("Internal error: it is broken");
    const shown = forNodeRed(new RigbridgeError("rig.refused", "Rig A refuses"));
    expect(String(shown)).toBe("Rig A refuses");
    expect(shown).toMatchObject({ code: "rig.refused", message: "Rig A refuses" });
  });

  test("has the miner's name once", () => {
    expect(ofMiner("Rig A", "Rig A refuses")).toBe("Rig A refuses");
    expect(ofMiner("Rig A", "the fan is broken")).toBe("Rig A: the fan is broken");
  });
});

function refused(work: () => unknown): unknown {
  try {
    work();
  } catch (error) {
    return error;
  }
  throw new Error("It was not refused");
}

test("a warning is logged once per interval, with the number of suppressed repeats", () => {
  const logged: string[] = [];
  let now = 0;
  const warn = throttledLog(
    (text) => logged.push(text),
    60,
    () => now,
  );
  for (const at of [0, 10, 59, 60, 61]) {
    now = at;
    warn("busy");
    if (at === 10) warn("other");
  }
  expect(logged).toEqual(["busy", "other", "busy (+2)"]);
});

test("a command that waited more than a minute for earlier ones of its miner is refused", async () => {
  const mutex = new MinerMutex();
  const first = Promise.withResolvers<void>();
  const now = jest.spyOn(Date, "now");
  try {
    const begun = Promise.withResolvers<void>();
    const a = mutex.run(1, () => {
      begun.resolve();
      return first.promise;
    });
    await within(begun.promise, "the first work to begin");
    const late = expect(mutex.run(1, async () => "done")).rejects.toMatchObject({
      code: "rig.busy",
      key: "waited",
    });
    now.mockReturnValue(Date.now() + 61_000);
    first.resolve();
    await a;
    await late;
  } finally {
    now.mockRestore();
  }
});
