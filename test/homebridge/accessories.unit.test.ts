import { describe, expect, test } from "@jest/globals";
import { planAccessories } from "../../homebridge/src/homekit/accessories.ts";
import type { AccessoryPlan } from "../../homebridge/src/homekit/plan.ts";
import type { Miner } from "../../src/index.ts";
import { control, farmOf, miner, off, readings, settings } from "./miners.ts";

const unlisted = () => undefined;
/** Without the parts that have their own tests. */
const plain = (given: object = {}) => settings({ alarm: false, eve: false, ...given });
const plansOf = (miners: readonly Miner[], given: object = {}) =>
  planAccessories(farmOf(miners), plain(given), unlisted).accessories;

const keysOf = (plans: readonly AccessoryPlan[]) => plans.map(({ key }) => key);

/** `Outlet.On`: its value, of all services. */
const valuesOf = (plan: AccessoryPlan | undefined): Record<string, unknown> =>
  Object.fromEntries(
    (plan?.services ?? []).flatMap(({ type, characteristics }) =>
      characteristics.map((each) => [`${name(type)}.${name(each.type)}`, each.value]),
    ),
  );
const name = (type: string | { readonly name: string }): string => (typeof type === "string" ? type : type.name);

const stopped = { statusDisplay: "Stopped", statusLine3: "", secondsSinceStart: 0 } as const;

describe("an outlet", () => {
  test.each([
    ["mines", miner(), { on: true, inUse: true }],
    [
      "is stopped",
      miner({
        statusInfo: stopped,
        readings: readings({ hashrate: 0, mining: false }),
        controls: [control("mining", { kind: "switch", value: false })],
      }),
      { on: false, inUse: false },
    ],
    [
      "is set to mine and does not hash yet",
      miner({ readings: readings({ mining: true }) }),
      { on: true, inUse: false },
    ],
    [
      "does not report whether it mines, and hashes",
      miner({ readings: readings({ hashrate: 5 }), controls: [control("mining", { kind: "switch" })] }),
      { on: true, inUse: true },
    ],
    [
      "has missed one read",
      miner({ readings: { ...readings({ hashrate: 1, mining: true }), stale: true } }),
      { on: true, inUse: true },
    ],
    ["is off", off(), { on: null, inUse: null }],
    ["answers as another rig", off({ isOffline: false }), { on: null, inUse: null }],
  ])("of a rig that %s", (_, rig, { on, inUse }) => {
    expect(valuesOf(plansOf([rig])[0])).toEqual({ "Outlet.On": on, "Outlet.OutletInUse": inUse });
  });

  test("sends what it was set to, true or 1 for on", () => {
    const [on] = plansOf([miner({ id: 7 })])[0]?.services[0]?.characteristics ?? [];
    const set = (value: string) => ({ miners: [7], intents: [{ kind: "set", property: "mining", value }] });
    expect([true, 1, false, 0].map((value) => on?.requestFor?.(value))).toEqual([
      set("true"),
      set("true"),
      set("false"),
      set("false"),
    ]);
  });

  test("may be a switch, which has no in-use state", () => {
    expect(valuesOf(plansOf([miner()], { defaults: { as: "switch" } })[0])).toEqual({ "Switch.On": true });
  });

  test("does not exist for a rig that cannot be stopped, and a note says why", () => {
    const { accessories, notes } = planAccessories(farmOf([miner({ controls: [] })]), plain(), unlisted);
    expect(accessories).toEqual([]);
    expect(notes).toEqual(["Rig 1 has no switch: it cannot be stopped"]);
  });

  test("does not exist for a rig that refuses its password, and the note says so", () => {
    const wrong = miner({ controls: [], readings: readings({ notes: ["the password is wrong"] }) });
    const { accessories, doubtful, notes } = planAccessories(farmOf([wrong]), plain(), unlisted);
    expect([accessories, keysOf(doubtful)]).toEqual([[], ["rig:025100000001"]]);
    expect(notes).toEqual(["Rig 1 has no switch: it cannot be stopped; the password is wrong"]);
  });

  test("stays, and is not added, while the controls of the rig are unknown", () => {
    const given = { defaults: { switches: ["restart"] } };
    const { accessories, doubtful, notes } = planAccessories(farmOf([off({ controls: [] })]), plain(given), unlisted);
    expect([accessories, keysOf(doubtful), notes]).toEqual([[], ["rig:025100000001"], []]);
    expect(doubtful[0]?.services.map(({ type, subtype, isDoubtful }) => [type, subtype, isDoubtful])).toEqual([
      ["Outlet", "main", true],
      ["Fanv2", "power", true],
      ["Fanv2", "fan", true],
      ["Switch", "restart", true],
    ]);
  });
});

describe("an accessory", () => {
  test("is identified by the rig's uid and stays the same with another address or name", () => {
    const [before, after] = [
      miner(),
      miner({ id: 9, uid: miner().uid, name: "Cellar", hostDescription: "10.0.0.9:80" }),
    ];
    expect(plansOf([before])[0]?.key).toBe(plansOf([after])[0]?.key);
  });

  test("is not made for rigs that were never identified or that are hidden", () => {
    const unread = off({ uid: null, readings: readings({ notes: ["nothing listens there"] }) });
    const { accessories, notes } = planAccessories(farmOf([unread]), plain(), unlisted);
    expect([accessories, notes]).toEqual([[], ["Rig 1 is not recognised: nothing listens there"]]);
    expect(plansOf([miner()], { defaults: { as: "hidden" } })).toEqual([]);
  });

  test("has the name from the settings, in characters that HomeKit accepts", () => {
    const listed = () => settings({ rigs: [{ address: "a", name: "🔥 Garage_rig 1!" }] }).rigs[0];
    const [plan] = planAccessories(farmOf([miner()]), plain(), listed).accessories;
    expect(plan?.name).toBe("Garage_rig 1");
  });

  test("describes the rig in texts that Homebridge accepts", () => {
    expect(plansOf([miner()])[0]?.information).toEqual({
      manufacturer: "Bitaxe",
      model: "Gamma",
      serial: "025100000001",
      firmware: "2.4.1",
    });
    expect(plansOf([miner({ identity: null, hardware: "x" })])[0]?.information).toEqual({
      manufacturer: "Rigbridge",
      model: "Mining rig",
      serial: "025100000001",
      firmware: "0",
    });
  });
});

describe("groups", () => {
  const groups = [
    { id: 1, name: "Hall", parentId: 0 },
    { id: 2, name: "Rack", parentId: 1 },
    { id: 3, name: "Yard", parentId: 0 },
  ];
  const rigs = [
    miner({ id: 1, groupId: 1 }),
    miner({ id: 2, groupId: 2, readings: readings({ hashrate: 0 }), controls: [control("mining", { value: false })] }),
    off({ id: 3, groupId: 2 }),
    miner({ id: 4, groupId: 3, controls: [] }),
  ];
  const plans = (given: object = {}) => planAccessories(farmOf(rigs, groups), plain(given), unlisted).accessories;
  const group = (key: string, given: object = {}) => plans(given).find((each) => each.key === key);

  test("are on while a rig in them or their subgroups mines, and command the rigs that answer", () => {
    expect(valuesOf(group("group:1"))).toEqual({ "Outlet.On": true, "Outlet.OutletInUse": true });
    expect(valuesOf(group("group:2"))).toEqual({ "Outlet.On": false, "Outlet.OutletInUse": false });
    expect(group("group:1")?.services[0]?.characteristics[0]?.requestFor?.(false).miners).toEqual([1, 2]);
  });

  test("without a rig that can be stopped do not exist", () => {
    expect(group("group:3")).toBeUndefined();
  });

  test("stay while it is unknown whether their rigs can be stopped", () => {
    const silent = off({ groupId: 3, controls: [], uid: null });
    const { accessories, doubtful } = planAccessories(farmOf([silent], groups), plain(), unlisted);
    expect([accessories, keysOf(doubtful)]).toEqual([[], ["group:3"]]);
  });

  test("named in the settings are the only ones shown, with their subgroups and rigs", () => {
    expect(plans({ groups: { only: ["Rack"] } }).map(({ key }) => key)).toEqual([
      "group:2",
      "rig:025100000002",
      "rig:025100000003",
    ]);
  });

  test("may be hidden, and there may be one of all rigs", () => {
    const keys = plans({ groups: { as: "hidden", all: true } }).map(({ key }) => key);
    expect(keys).toEqual(["rigs", "rig:025100000001", "rig:025100000002", "rig:025100000003"]);
  });
});

describe("a farm of many rigs", () => {
  const many = (count: number) =>
    Array.from({ length: count }, (_, index) => miner({ id: index + 1, uid: `uid-${index}` }));

  test("shows each of 140 rigs", () => {
    expect(plansOf(many(140))).toHaveLength(140);
  });

  test("shows 141 rigs only as groups, with advice on child bridges", () => {
    const { accessories, notes } = planAccessories(farmOf(many(141)), plain(), unlisted);
    expect(accessories.map(({ key }) => key)).toEqual(["rigs"]);
    expect(notes.join()).toMatch(/141 rigs.*child bridge/);
  });

  test("shows 141 rigs as groups before all of them are identified", () => {
    const some = many(141).map((each) => (each.id > 50 ? { ...each, uid: null } : each));
    expect(plansOf(some).map(({ key }) => key)).toEqual(["rigs"]);
  });

  test("never has more accessories than a bridge has room for", () => {
    const groups = Array.from({ length: 20 }, (_, index) => ({ id: index + 1, name: `G${index}`, parentId: 0 }));
    const rigs = many(140).map((each, index) => ({ ...each, groupId: (index % 20) + 1 }));
    const { accessories, notes } = planAccessories(farmOf(rigs, groups), plain(), unlisted);
    expect(accessories).toHaveLength(149);
    expect(notes.join()).toMatch(/there would be 160/);
  });
});
