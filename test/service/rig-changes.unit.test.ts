import { expect, test } from "@jest/globals";
import { rigChangeOf } from "../../src/service/miners/rig-changes.ts";

const identity = { make: "Bitaxe", model: "Gamma", firmware: "1.0", mac: null, hostname: null, serial: null };
const rig = { uid: "a", driver: "axeos", identity, startedAt: 1_000 };
const withFirmware = (firmware: string | null) => ({ ...identity, firmware });

test.each([
  ["nothing", rig, null],
  ["an equal identity", { ...rig, identity: { ...identity } }, null],
  ["a later start", { ...rig, startedAt: 2_000 }, { kind: "restart", startedAt: 2_000 }],
  ["an earlier start: a clock was set", { ...rig, startedAt: 500 }, null],
  ["a start that is no longer known", { ...rig, startedAt: null }, null],
  ["a new firmware", { ...rig, identity: withFirmware("2.0") }, { kind: "firmware", from: "1.0", to: "2.0" }],
  [
    "a new firmware, which restarts the rig",
    { ...rig, identity: withFirmware("2.0"), startedAt: 2_000 },
    { kind: "firmware", from: "1.0", to: "2.0" },
  ],
  ["a firmware that is no longer known", { ...rig, identity: withFirmware(null) }, null],
  ["another rig", { ...rig, uid: "b", identity: withFirmware("2.0"), startedAt: 2_000 }, null],
])("of a read that shows %s", (_, now, change) => {
  expect(rigChangeOf(rig, now)).toEqual(change);
});

test("the first read of a rig is no change", () => {
  expect(rigChangeOf({ ...rig, uid: "a", identity: null, startedAt: null }, rig)).toBeNull();
});
