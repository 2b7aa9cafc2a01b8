import { expect, test } from "@jest/globals";
import type { MinerDetail } from "../../src/contract/resources.ts";
import { unknownIdentity } from "../../src/link/identity.ts";
import type { FoundRig } from "../../src/link/scan.ts";
import { Sightings } from "../../src/service/discovery/sightings.ts";
import type { Access } from "../../src/service/users/access.ts";

const caller = { actor: "test" };

const addressOf = (n: number): string => `10.1.${n >> 8}.${n & 255}`;

const foundAt = (n: number): FoundRig => ({
  address: addressOf(n),
  driver: "axeos",
  identity: unknownIdentity,
  note: null,
  login: null,
});

function emptySightings() {
  const access: Access = {
    privilege: "administrator",
    all: true,
    userId: null,
    seesGroup: () => true,
    seesPool: () => true,
  };
  const placed = async () => ({}) as MinerDetail;
  const sightings = new Sightings({
    accessBook: { of: () => access },
    rigs: () => [],
    nameOf: () => null,
    miners: { addMiner: placed, changeMiner: placed },
    now: () => 1_800_000_000_000,
  });
  const list = () => sightings.listSightings({}, caller);
  return { sightings, list, addresses: async () => (await list()).map(({ address }) => address) };
}

test("of more new rigs than are listed, the newest are, and the rest are offered once some are placed", async () => {
  const { sightings, list, addresses } = emptySightings();
  for (let n = 0; n < 600; n += 1) sightings.take([foundAt(n)], "lease");
  const first = await list();
  expect([first.length, first[0]?.address, first.at(-1)?.address]).toEqual([500, addressOf(100), addressOf(599)]);
  for (const { id } of first.slice(0, 100)) await sightings.placeSighting({ id }, caller);
  expect(await addresses()).toEqual(Array.from({ length: 500 }, (_, n) => addressOf(n < 100 ? n : 100 + n)));
});

test("a new rig, or one that is sighted again, moves nothing in the list; a report comes first", async () => {
  const { sightings, list, addresses } = emptySightings();
  sightings.take([foundAt(1), foundAt(2)], "lease");
  const [first, second] = await list();
  sightings.take([foundAt(1)], "arp");
  sightings.take([foundAt(3)], "lease");
  expect((await list()).slice(0, 2)).toEqual([first, second]);
  sightings.take([foundAt(3)], "report");
  sightings.take([foundAt(2)], "report");
  expect(await addresses()).toEqual([2, 3, 1].map(addressOf));
  sightings.take([foundAt(2)], "lease");
  expect((await list())[0]).toMatchObject({ address: addressOf(2), source: "report" });
});
