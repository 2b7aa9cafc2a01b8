import { afterEach, describe, expect, test } from "@jest/globals";
import { MinerListQuery } from "../../src/contract/inputs.ts";
import { withRequestedFields } from "../../src/contract/miner-fields.ts";
import type { MinerGroup } from "../../src/contract/resources.ts";
import type { Caller } from "../../src/contract/service.ts";
import { refusal } from "../errors.ts";
import { type Bench, caller, closeBenches, openBench } from "./bench.ts";

afterEach(closeBenches);

/** A hall with two rows, a rig in the hall and in the first row each, one in no group, one in the second row that is off. */
async function openHall(display: Record<string, unknown> = {}) {
  const bench = await openBench({
    rigs: [
      { kind: "axeos", warm: true },
      { kind: "cgminer", warm: true },
      { kind: "axeos", warm: true },
    ],
    config: { display: { timeZone: "UTC", ...display } },
  });
  const { service } = bench;
  const hall = (await service.addGroup({ name: "Hall", parentId: 0 }, caller)).id;
  const row1 = (await service.addGroup({ name: "Row 1", parentId: hall }, caller)).id;
  const row2 = (await service.addGroup({ name: "Row 2", parentId: hall }, caller)).id;
  await service.addGroup({ name: "Attic", parentId: 0 }, caller);
  await bench.add(bench.rig(0).address, { name: "in the hall", group: hall, tags: ["loud", "new"] });
  await bench.add(bench.rig(1).address, { name: "in row 1", group: row1, tags: ["loud"] });
  await bench.add(bench.rig(2).address, { name: "alone", tags: ["new"] });
  const { id } = await service.addMiner({ address: "127.0.0.1:1", name: "off", group: row2 }, caller);
  for (let reads = 0; reads < 3; reads += 1) await service.pollMiner({ id }, caller);
  return { bench, hall, row1, row2 };
}

type Filter = Readonly<Record<string, string>>;

/** As HTTP hands it on; the method and the ready-made bytes have to agree. */
async function listed(bench: Bench, filter: Filter, who: Caller = caller): Promise<MinerGroup[]> {
  const input = MinerListQuery.parse(filter);
  const whole = await bench.service.listMiners(input, who);
  const encoded = bench.service.encoded?.("listMiners", input, who);
  if (encoded === undefined) throw new Error("the list is not encoded");
  const bytes = Buffer.concat(encoded.chunks);
  expect(bytes).toHaveLength(encoded.length);
  const wanted = JSON.parse(JSON.stringify(withRequestedFields("listMiners", input, whole)));
  // A second may end between the two.
  const metaData = { ...wanted.metaData, updated: expect.any(String) };
  expect(JSON.parse(bytes.toString())).toMatchObject({ ...wanted, metaData });
  return whole.groupList;
}

const names = (groups: readonly MinerGroup[]): unknown[] =>
  groups.map(({ name, minerList, groupList }) => [
    name,
    ...minerList.map((miner) => miner.name),
    ...(groupList === undefined ? [] : names(groupList)),
  ]);

describe("the list of miners", () => {
  test.each<[Filter, unknown[]]>([
    [{ status: "Disconnected" }, [["Hall", ["Row 2", "off"]]]],
    [{ status: "Stopped" }, []],
    [
      { status: "Mining,Disconnected", group: "Hall" },
      [["Hall", "in the hall", ["Row 1", "in row 1"], ["Row 2", "off"]]],
    ],
    [{ group: "Row 1" }, [["Hall", ["Row 1", "in row 1"]]]],
    [{ group: "Hall / Row 2" }, [["Hall", ["Row 2", "off"]]]],
    [{ group: "0" }, [["Ungrouped", "alone"]]],
    [{ group: "Attic" }, []],
    [
      { tag: "new" },
      [
        ["Hall", "in the hall"],
        ["Ungrouped", "alone"],
      ],
    ],
    [{ tag: "new", group: "Hall" }, [["Hall", "in the hall"]]],
  ])("holds only what %o asks for, and totals of that", async (filter, expected) => {
    const { bench } = await openHall();
    expect(names(await listed(bench, filter))).toEqual(expected);
    const { metaData, ...list } = await bench.service.listMiners(MinerListQuery.parse(filter), caller);
    const shown = list.groupList.flatMap(function all(group: MinerGroup): number[] {
      return [
        ...group.minerList.map((miner) => miner.speedInfo.hashrateValue),
        ...(group.groupList ?? []).flatMap(all),
      ];
    });
    expect(list.totalHashrate5s.startsWith("0 ")).toBe(shown.every((hashrate) => hashrate === 0));
    expect(metaData.infoList).toEqual([]);
  });

  test("has the id and the requested fields of each miner", async () => {
    const { bench, hall } = await openHall();
    const input = MinerListQuery.parse({ fields: "name,tags", group: String(hall), tag: "loud" });
    await listed(bench, { fields: "name,tags", group: String(hall), tag: "loud" });
    await listed(bench, { fields: "id,readings,controls,poolList,statusInfo" });
    const bytes = bench.service.encoded?.("listMiners", input, caller);
    const { groupList } = JSON.parse(Buffer.concat(bytes?.chunks ?? []).toString());
    const [{ minerList, groupList: rows }] = groupList;
    expect(minerList).toEqual([{ id: 1_000_000_001, name: "in the hall", tags: ["loud", "new"] }]);
    expect(rows).toMatchObject([
      { name: "Row 1", minerList: [{ id: 1_000_000_002, name: "in row 1", tags: ["loud"] }] },
    ]);
  });

  test("keeps its empty groups if only fields are requested", async () => {
    const { bench } = await openHall();
    expect(names(await listed(bench, { fields: "name" }))).toContainEqual(["Attic"]);
  });

  test("has another tag as soon as a miner matches the request", async () => {
    const { bench } = await openHall();
    const input = MinerListQuery.parse({ tag: "old" });
    const tag = () => bench.service.encoded?.("listMiners", input, caller)?.etag;
    const before = tag();
    expect(tag()).toBe(before);
    await bench.service.changeMiner({ id: 1_000_000_003, tags: ["old"] }, caller);
    expect(tag()).not.toBe(before);
  });

  test("is refused for a group that there is not, that is not seen, and whose name is not the only one", async () => {
    const { bench, row1 } = await openHall();
    const { service } = bench;
    const anna = await service.saveUser({ id: 0, name: "anna", groups: [row1] }, caller);
    const asked = (group: string | number, who: Caller) => refusal(service.listMiners({ group }, who));
    const asAnna = { ...caller, userId: anna.id };
    expect(await asked("Cellar", caller)).toBe("input.invalid group");
    expect(await asked(4_711, caller)).toBe("input.invalid group");
    expect(await asked("Row 2", asAnna)).toBe("input.invalid group");
    expect(names(await listed(bench, { group: "Row 1" }, asAnna))).toEqual([["Row 1", "in row 1"]]);
    const { id } = await service.addGroup({ name: "Row 1", parentId: 0 }, caller);
    expect(await asked("Row 1", caller)).toBe("input.invalid group");
    expect(names(await listed(bench, { group: "Hall / Row 1" }))).toEqual([["Hall", ["Row 1", "in row 1"]]]);
    expect(names(await listed(bench, { group: String(id) }))).toEqual([]);
  });

  test.each([
    ["status", "Minning", 'did you mean "Mining"?'],
    ["status", "", "must be one or more statuses"],
    ["fields", "name,reading", 'did you mean "readings"?'],
  ])("says which words there are for %s=%s", (parameter, text, words) => {
    const { error } = MinerListQuery.safeParse({ [parameter]: text });
    expect(error?.issues[0]?.message).toContain(words);
  });
});

describe("display.groups: flat", () => {
  test("lists groups in groups side by side, called by the way to them as each user sees it", async () => {
    const { bench, hall, row1 } = await openHall({ groups: "flat" });
    const { service } = bench;
    expect(names(await listed(bench, {}))).toEqual([
      ["Hall", "in the hall"],
      ["Hall / Row 1", "in row 1"],
      ["Hall / Row 2", "off"],
      ["Attic"],
      ["Ungrouped", "alone"],
    ]);
    expect(names(await listed(bench, { group: "Hall", status: "Mining" }))).toEqual([
      ["Hall", "in the hall"],
      ["Hall / Row 1", "in row 1"],
    ]);
    const anna = await service.saveUser({ id: 0, name: "anna", groups: [row1] }, caller);
    expect(names(await listed(bench, {}, { ...caller, userId: anna.id }))).toEqual([["Row 1", "in row 1"]]);
    const { id } = await service.startBulkAction(
      { action: "restart", parameters: {}, parallel: 1, delay: 0, dryRun: true, groups: [hall] },
      caller,
    );
    expect((await service.getBulkAction({ id }, caller)).total).toBe(3);
  });
});
