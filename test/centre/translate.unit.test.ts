import { expect, test } from "@jest/globals";
import { z } from "zod";
import { groupKeys, inward, numberKeys, outward } from "../../src/centre/translate.ts";
import { type Operation, operationNames, operations } from "../../src/contract/operations.ts";

/** Whole numbers that mean the same at every site. */
const plain = new Set([
  ...["age", "n"],
  ...["accepted", "acceptedValue", "activeCount", "added", "after", "alarms", "allowed", "asicCount", "at", "bus"],
  ...["avgHashrateValue", "avgTemperatureValue", "bytes", "changed", "channel", "chips", "chipsExpected", "choice"],
  ...["column", "connections", "cores", "costMinerCount", "count", "done", "energy", "error", "estimatedMinerCount"],
  ...["failed", "false", "fanPercent", "fanSpeed", "firing", "foundBlocks", "gpuActivity", "gpuClock", "gpuCount"],
  ...["gpuMemoryClock", "gpuPowertune", "hardwareErrors", "hashrateValue", "held", "hwErrorsValue", "inRepair", "line"],
  ...["logInterval", "maxTemperatureValue", "minerCount", "mining", "moreMistakes", "most", "notificationCount"],
  ...[
    "parallel",
    "pciBusId",
    "pending",
    "perDay",
    "pgaCount",
    "points",
    "powerUsageValue",
    "priority",
    "profitMinerCount",
  ],
  ...[
    "quota",
    "row",
    "rows",
    "columns",
    "order",
    "rigs",
    "seconds",
    "rejected",
    "rejectedValue",
    "revenueMinerCount",
    "revision",
    "runningCount",
    "same",
    "scanned",
  ],
  ...["secondsSinceStart", "slot", "temperature", "times", "total", "totalCount", "true", "unknown", "upstreams"],
  ...["unacknowledgedNotificationCount", "upstreamsFailing", "vendorId", "waiting", "workers", "since"],
]);

/** The keys of the whole numbers in a schema; a number in a list has the key of the list. */
function* numbersIn(schema: z.core.$ZodType, key: string, inside: readonly unknown[] = []): Generator<string> {
  if (inside.includes(schema)) return;
  const within = [...inside, schema];
  if (schema instanceof z.ZodNumber && schema.format === "safeint") yield key;
  else if (schema instanceof z.ZodObject)
    for (const [name, field] of Object.entries(schema.shape)) yield* numbersIn(field, name, within);
  else if (schema instanceof z.ZodArray) yield* numbersIn(schema.element, key, within);
  else if (schema instanceof z.ZodRecord) yield* numbersIn(schema.valueType, key, within);
  else if (schema instanceof z.ZodUnion) for (const option of schema.options) yield* numbersIn(option, key, within);
  else if (schema instanceof z.ZodTuple) for (const item of schema.def.items) yield* numbersIn(item, key, within);
  else if (schema instanceof z.ZodPipe) {
    yield* numbersIn(schema.in, key, within);
    yield* numbersIn(schema.out, key, within);
  } else if (
    schema instanceof z.ZodOptional ||
    schema instanceof z.ZodNullable ||
    schema instanceof z.ZodDefault ||
    schema instanceof z.ZodPrefault
  )
    yield* numbersIn(schema.def.innerType, key, within);
}

test("every whole number of the contract is known as a number of one service, or as a plain one", () => {
  const found = new Set<string>();
  for (const name of operationNames) {
    const { params = {}, query, body, reply, scope }: Operation = operations[name];
    if (scope === "own") continue;
    for (const schema of [z.object(params), query, body, reply])
      if (schema !== undefined) for (const key of numbersIn(schema, "")) found.add(key);
  }
  const known = (key: string) => Number(numberKeys.has(key)) + Number(groupKeys.has(key)) + Number(plain.has(key));
  expect([...found].filter((key) => known(key) !== 1)).toEqual([]);
});

test("numbers go out and come back, and nothing else changes", () => {
  const reply = {
    id: 7,
    groupId: 0,
    minerId: 0,
    hashrate: 7,
    poolList: [{ id: 2, minerID: 7 }],
    groups: [1, 0],
    pools: [3],
    kinds: [{ id: "sha256" }, { id: "12" }],
    time: "2026-01-01",
    nothing: null,
  };
  const there = outward(3, reply);
  expect(there).toEqual({
    id: 30_000_000_007,
    groupId: 30_000_000_000,
    minerId: 0,
    hashrate: 7,
    poolList: [{ id: 30_000_000_002, minerID: 30_000_000_007 }],
    groups: [30_000_000_001, 30_000_000_000],
    pools: [30_000_000_003],
    kinds: [{ id: "sha256" }, { id: "30000000012" }],
    time: "2026-01-01",
    nothing: null,
  });
  expect(inward(there as object, [{ id: 3, name: "Cabin" }])).toEqual({ sites: new Set([3]), input: reply });
  expect(outward(0, reply)).toBe(reply);
});

test("a group may be named by its site", () => {
  const sites = [
    { id: 3, name: "Cabin" },
    { id: 4, name: "Cabin by the sea" },
  ];
  const group = (name: string) => inward({ group: name }, sites);
  expect(group("Cabin")).toEqual({ sites: new Set([3]), input: { group: 0 } });
  expect(group("Cabin / Attic / East")).toEqual({ sites: new Set([3]), input: { group: "Attic / East" } });
  expect(group("Cabin by the sea / Attic")).toEqual({ sites: new Set([4]), input: { group: "Attic" } });
  expect(group("Attic")).toEqual({ sites: new Set([0]), input: { group: "Attic" } });
});
