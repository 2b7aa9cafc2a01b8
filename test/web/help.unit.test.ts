import { expect, test } from "@jest/globals";
import type { ReasonCode } from "../../src/contract/readings.ts";
import type { MinerDetail, MinerStatus } from "../../src/contract/resources.ts";
import { helpFor } from "../../src/web/pages/rig/help.ts";

const rig = (status: MinerStatus, reason: ReasonCode | null = null, over: Partial<MinerDetail> = {}): MinerDetail =>
  ({
    statusInfo: { statusDisplay: status },
    readings: { reason: reason && { code: reason, text: "", since: "2026-01-01T00:00:00.000Z" } },
    power: { heldBy: null, max: null },
    controls: [],
    canStart: true,
    canStop: false,
    canRestart: true,
    canReboot: true,
    isRunning: false,
    ...over,
  }) as unknown as MinerDetail;

test.each([
  ["Mining", null, null],
  ["Starting", null, null],
  ["Disabled", null, { why: "disabled", remedy: { tab: "settings" } }],
  ["Disconnected", null, { why: "away", remedy: { read: true } }],
  ["Disconnected", "no-power", { why: "noPower", remedy: { control: "mining" } }],
  ["Disconnected", "login", { why: "login", remedy: { tab: "settings" } }],
  ["Disconnected", "program", { why: "program", remedy: { control: "restart" } }],
  ["Stopped", "user", { why: "stopped", remedy: { control: "mining" } }],
  ["Stopped", null, { why: "stopped", remedy: { control: "mining" } }],
  ["Idle", "pools", { why: "pools", remedy: { tab: "pools" } }],
  ["Idle", "cooling", { why: "waits", remedy: null }],
  ["Error", "hardware", { why: "broken", remedy: { control: "reboot" } }],
  ["Error", null, { why: "broken", remedy: { control: "restart" } }],
  ["Idle", "licence", { why: "licence", remedy: null }],
] as const)("what helps a rig that is %s for the reason %s", (status, reason, help) => {
  expect(helpFor(rig(status, reason))).toEqual(help);
});

test("a command is offered only where the rig has it", () => {
  const none = { canStart: false, canRestart: false, canReboot: false };
  expect(helpFor(rig("Stopped", "user", none))).toEqual({ why: "stopped", remedy: null });
  expect(helpFor(rig("Error", null, { ...none, canReboot: true }))?.remedy).toEqual({ control: "reboot" });
});

test("a rig that a rule or a loop keeps off says so; a person who stopped it is the nearer reason", () => {
  const power = { heldBy: { what: "Roof", until: null }, max: null };
  expect(helpFor(rig("Stopped", null, { power }))?.why).toBe("held");
  expect(helpFor(rig("Stopped", "user", { power }))?.why).toBe("stopped");
});
