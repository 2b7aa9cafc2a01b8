import { afterEach, expect, test } from "@jest/globals";
import { caller, closeBenches } from "../service/bench.ts";
import { command, rigbridge } from "./command.ts";
import { servedBench } from "./served-bench.ts";

afterEach(closeBenches);

test("rules lists the rules with their state, and turns one on or off by key, id or name", async () => {
  const { bench, env } = await servedBench({});
  await bench.service.addRule({ key: "too-hot", name: "Too hot" }, caller);
  expect((await rigbridge(["rules"], { env })).stdout).toMatch(
    /^Key +Name +State +Last run\ntoo-hot +Too hot +idle\n$/,
  );
  expect(await command(["rules", "disable", "too hot"], { env })).toMatchObject({
    code: 0,
    stdout: "Too hot is off\n",
  });
  expect((await command(["rules"], { env })).stdout).toMatch(/^too-hot +Too hot +off$/m);
  const mistyped = await command(["rules", "enable", "to-hot"], { env });
  expect(mistyped.stderr).toBe('There is no rule "to-hot"; did you mean "too-hot"?\n');
  expect((await command(["rules", "enabel", "too-hot"], { env })).stderr).toContain('did you mean "enable"?');
  expect((await command(["rules", "enable"], { env })).stderr).toBe("rule: give the key of the rule to enable\n");
  await command(["rules", "enable", "too-hot"], { env });
  expect(JSON.parse((await command(["rules", "--json"], { env })).stdout)).toMatchObject([{ enabled: true }]);
});

test("notifications lists them, or only those that are not over", async () => {
  const { bench, env } = await servedBench({});
  expect((await rigbridge(["notifications"], { env })).stdout).toBe("There are no notifications.\n");
  bench.service.setWarning?.("Clock", "The clock is wrong");
  expect((await command(["notifications", "--open"], { env })).stdout).toMatch(
    /^Time .*\n\d\d-\d\d \d\d:\d\d +warning +open .*Clock: The clock is wrong\n$/,
  );
  bench.service.setWarning?.("Clock", null);
  expect((await command(["notifications", "--open"], { env })).stdout).toBe("No notification is open.\n");
  expect((await command(["notifications"], { env })).stdout).toMatch(/ over /);
});

test("signals lists what begins and ends curtailments", async () => {
  const { bench, env } = await servedBench({});
  expect((await rigbridge(["signals"], { env })).stdout).toBe(
    "There are no signals; the section signals declares them.\n",
  );
  const peak = { key: "4cp", plan: "peak", kind: "peak", hours: { from: "15:00", to: "19:00" } };
  await bench.service.saveSettings({ section: "signals", value: [peak] }, caller);
  expect((await command(["signals"], { env })).stdout).toMatch(/^4cp +peak +peak +/m);
  expect(JSON.parse((await command(["signals", "--json"], { env })).stdout)).toMatchObject([
    { key: "4cp", plan: "peak" },
  ]);
});

test("facility lists the devices of the building", async () => {
  const { bench, env } = await servedBench({});
  expect((await rigbridge(["facility"], { env })).stdout).toBe(
    "There are no facility devices; the section facility declares them.\n",
  );
  const paths = { temperature: "t" };
  const sensor = { key: "hall", kind: "sensor", driver: "http-json", url: "http://127.0.0.1:9/", paths };
  await bench.service.saveSettings({ section: "facility", value: [sensor] }, caller);
  expect((await command(["facility"], { env })).stdout).toMatch(
    /^Device +Kind +State .*\nhall +sensor +(unread|silent)/,
  );
  expect(JSON.parse((await command(["facility", "--json"], { env })).stdout)).toMatchObject([{ key: "hall" }]);
});
