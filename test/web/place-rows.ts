import type { Place } from "../../src/contract/place-operations.ts";
import type { Row } from "../../src/web/live.ts";

/** A place as the service lists it. */
export const place = (
  id: number,
  kind: Place["kind"],
  name: string,
  parent: Place | null = null,
  more: Partial<Place> = {},
): Place => ({
  id,
  uid: `place-${id}`,
  kind,
  name,
  path: parent === null ? name : `${parent.path}/${name}`,
  parentId: parent?.id ?? null,
  order: 0,
  rigs: 0,
  mining: 0,
  power: null,
  hashrates: [],
  alarms: 0,
  ...more,
});

/** A rig that mines as expected. */
export const rigRow = (id: number, more: Partial<Row> = {}): Row => ({
  id,
  uid: `uid-${id}`,
  name: `Rig ${id}`,
  group: 0,
  location: null,
  tags: [],
  status: "Mining",
  reason: null,
  hashrate: 1e14,
  expected: 1e14,
  power: 3000,
  temperature: 60,
  efficiency: 30e-12,
  pool: "pool.example.com",
  coin: "BTC",
  profit: 1,
  alarms: 0,
  readAt: null,
  repair: null,
  algorithm: "SHA-256",
  model: "S19",
  address: "10.0.0.1:80",
  worker: "a.b",
  ...more,
});
