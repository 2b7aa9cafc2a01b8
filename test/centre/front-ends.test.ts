import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, describe, expect, test } from "@jest/globals";
import registerAction from "../../nodes/miner-action/rigbridge-miner-action.ts";
import registerGet from "../../nodes/miner-get/rigbridge-miner-get.ts";
import registerService from "../../nodes/service/rigbridge-service.ts";
import { command, running } from "../cli/command.ts";
import { onTestFinished } from "../finished.ts";
import { startHomebridge } from "../homebridge/homebridge.ts";
import { callTool, mcpClient } from "../mcp/client.ts";
import { openFlow } from "../nodes/bench-flow.ts";
import { closeBenches } from "../service/bench.ts";
import { until } from "../until.ts";
import { ownersKey, startCabin } from "./front-bench.ts";

// depends on: src/**, nodes/**, homebridge/**

afterEach(closeBenches);

describe("over a centre", () => {
  test("an assistant lists the rigs of a site, asks why one does not hash, and stops one, by its number", async () => {
    const { url, heater, spare, garage, cabin, spareThere, heaterThere, doneThere, reaches } = await startCabin();
    const client = await mcpClient(url, { key: ownersKey });
    expect((await callTool(client, "list_rigs", { sort: "id" })).json).toMatchObject({
      total: 3,
      rigs: [{ id: garage }, { id: heater, name: "⟦Heater⟧" }, { id: spare }],
    });
    expect((await callTool(client, "list_rigs", { group: "Cabin" })).json).toMatchObject({ total: 2 });
    const dry = await callTool(client, "stop_rigs", { rigs: [heater], dryRun: true });
    expect(dry.json).toMatchObject({ dryRun: true, rigs: 1, possible: 1 });
    expect(await doneThere()).toEqual([]);
    const stopped = await callTool(client, "stop_rigs", { rigs: [heater] });
    expect(stopped.json).toMatchObject({ rigs: 1, state: "done", done: 1, failed: 0 });
    expect(await doneThere()).toEqual([`stop ${heaterThere} done`]);
    const why = await callTool(client, "why_not_hashing", { rig: heater });
    expect(why.isError).toBe(false);
    expect(why.text).toContain("Heater");
    const all = await callTool(client, "stop_rigs", { rigs: [spare, garage], dryRun: true });
    expect(all.json).toMatchObject({ dryRun: true, rigs: 2 });

    await cabin.cut();
    await reaches("Cabin", "unreachable");
    const lost = await callTool(client, "stop_rigs", { rigs: [spare] });
    expect(lost.text).toMatch(/The site Cabin cannot be reached, so nothing was sent/);
    const since = expect.stringMatching(/^2\d{3}-/);
    expect((await callTool(client, "list_rigs", { group: "Cabin" })).json).toMatchObject({
      rigs: [{ siteUnreachableSince: since }, { siteUnreachableSince: since }],
    });
    const sums = { rigs: 3, rigsOfUnreachableSites: 2, rigsByState: { Mining: 1 } };
    expect((await callTool(client, "farm_summary", {})).json).toMatchObject(sums);
    const silent = await callTool(client, "why_not_hashing", { rig: spare });
    expect(silent.text).toMatch(/The site Cabin cannot be reached/);
    expect(await doneThere()).not.toContain(`stop ${spareThere} done`);
  });

  test("the command line lists, commands, tells and watches", async () => {
    const { url, garage, heater, cabin, heaterThere, doneThere, reaches } = await startCabin();
    const env = { RIGBRIDGE_SERVICE: url, RIGBRIDGE_KEY: ownersKey };
    const json = async (...args: string[]): Promise<unknown> =>
      JSON.parse((await command([...args, "--json"], { env })).stdout);
    expect(await json("list")).toHaveLength(3);
    expect(await json("list", "--group", "Cabin")).toMatchObject([{ name: "Heater" }, { name: "Spare" }]);
    expect(await json("list", "--group", "Cabin / Attic")).toMatchObject([{ id: heater }]);
    expect(await command(["act", "Heater", "stop"], { env })).toMatchObject({ code: 0, stderr: "" });
    expect(await command(["act", String(heater), "start"], { env })).toMatchObject({ code: 0, stderr: "" });
    expect(await doneThere()).toEqual([`stop ${heaterThere} done`, `start ${heaterThere} done`]);
    cabin.bench.service.setWarning?.("Clock", "The clock is wrong");
    await until(
      async () => (await command(["notifications", "--open"], { env })).stdout.includes("Clock: The clock is wrong"),
      "the notification of the site",
    );

    const watch = await running(["watch"], /Garage: Mining\n/, { env });
    await until(() => /Heater: \w+\n/.test(watch.said()), "the rig of the site");
    await command(["act", "Heater", "stop"], { env });
    await until(() => watch.said().includes("Heater: Stopped, was Mining\n"), "the new state of the rig of the site", {
      details: () => watch.said(),
    });
    await cabin.cut();
    await reaches("Cabin", "unreachable");
    await until(() => watch.said().includes("Heater: Unreachable, was Stopped\n"), "the loss of the site");
    watch.signal("SIGINT");
    expect(await watch.ended).toMatchObject({ code: 0, stderr: "" });
    expect((await command(["list"], { env })).stdout).toMatch(/^Heater {2,}Unreachable *$/m);
    expect(await json("list", "--group", "Cabin")).toHaveLength(2);
    const doctor = await command(["doctor", "--service", url, "--key", ownersKey], { env });
    expect(doctor.stdout).toMatch(/^wrong +Site +Cabin cannot be reached: /m);
    const refused = await command(["act", "Heater", "stop"], { env });
    expect(refused).toMatchObject({ code: 1, stderr: expect.stringMatching(/^The site Cabin cannot be reached/) });
    expect(await command(["act", String(garage), "restart"], { env })).toMatchObject({ code: 0 });
  });

  test("metrics have the rigs of a site with its group, and no figures of them while it is away", async () => {
    const { url, cabin, reaches } = await startCabin();
    const metrics = async () =>
      (await (await fetch(`${url}/metrics`, { headers: { "x-api-key": ownersKey } })).text())
        .split("\n")
        .filter((line) => line.includes('"Heater"'));
    const before = await metrics();
    expect(before.find((line) => line.startsWith("rigbridge_miner_hashrate"))).toMatch(/group="Cabin \/ Attic".* \d/);
    await cabin.cut();
    await reaches("Cabin", "unreachable");
    expect((await metrics()).filter((line) => /_(hashrate|power|temperature)/.test(line))).toEqual([]);
  });

  test("Node-RED's nodes get the rigs of a site and command them", async () => {
    const { url, heaterThere, doneThere, cabin, reaches } = await startCabin();
    const userDir = await mkdtemp(join(tmpdir(), "nodes-"));
    onTestFinished(() => rm(userDir, { recursive: true, force: true }));
    const common = { version: 1, service: "service", scope: "miners", miners: "Heater", wires: [["out"]] };
    const flow = [
      { id: "service", type: "rigbridge-service", mode: "elsewhere", url, version: 1 },
      { id: "get", type: "rigbridge-miner-get", ...common },
      { id: "action", type: "rigbridge-miner-action", action: "stop", ...common },
      { id: "out", type: "helper" },
    ];
    const credentials = { service: { key: ownersKey } };
    const bench = await openFlow([registerService, registerGet, registerAction], flow, { credentials, userDir });
    onTestFinished(() => bench.close());
    const isConnected = (id: string) => bench.recorded(id).statuses.some((status) => /^green dot/.test(status));
    await until(() => isConnected("action") && isConnected("get"), "the nodes to connect", {
      details: () => JSON.stringify([bench.recorded("action"), bench.recorded("get")]),
    });
    const answers = async (id: string) => {
      const from = bench.recorded("out").messages.length;
      bench.send(id, { payload: "go" });
      await until(() => bench.recorded("out").messages.length > from || bench.recorded(id).errors.length > 0, id);
      return bench.recorded("out").messages[from];
    };
    expect(await answers("get")).toMatchObject({ payload: { name: "Heater", group: "Cabin / Attic", online: true } });
    expect(await answers("action")).toMatchObject({ payload: { success: true }, miner: { name: "Heater" } });
    expect(await doneThere()).toEqual([`stop ${heaterThere} done`]);
    await cabin.cut();
    await reaches("Cabin", "unreachable");
    await until(
      async () => JSON.stringify(await answers("get")).includes('"online":false'),
      "the rig of the lost site to be shown as offline",
    );
  });

  test("HomeKit shows a rig of a site, switches it off there, and has no answer of it while the site is away", async () => {
    const { url, cabin, reaches, heaterThere, doneThere } = await startCabin();
    const platform = { name: "Rigbridge", service: { url, key: ownersKey, poll: 1 } };
    const homebridge = await startHomebridge({ platform });
    onTestFinished(() => homebridge.close());
    const { controller } = homebridge;
    await until(
      async () => (await controller.accessories()).some(({ name }) => name === "Heater"),
      "the rig of the site to appear",
    );
    const on = await controller.find("Heater", "outlet", "on");
    await until(async () => (await controller.read(on)).value === 1, "the outlet to be on");
    expect(await controller.write(on, false)).toBe(0);
    await until(async () => (await controller.read(on)).value === 0, "the outlet to be off");
    expect(await doneThere()).toEqual([`set ${heaterThere} done`]);
    await cabin.cut();
    await reaches("Cabin", "unreachable");
    await until(async () => (await controller.read(on)).status !== 0, "the outlet to have no answer");
    expect((await controller.accessories()).map(({ name }) => name)).toContain("Heater");
    await cabin.join();
    await reaches("Cabin", "connected");
    await until(async () => (await controller.read(on)).status === 0, "the outlet to answer again");
  });
});
