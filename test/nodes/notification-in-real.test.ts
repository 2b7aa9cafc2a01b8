import { mkdir, mkdtemp, readFile, rm, symlink } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { afterEach, describe, expect, test } from "@jest/globals";
import { z } from "zod";
import { until } from "../until.ts";
import { type FlowNode, type NodeRed, type NodeRedOptions, startNodeRed, versions } from "./real-node-red.ts";
import { type OpenedElsewhere, openElsewhere } from "./service-kinds.ts";

const closers: (() => Promise<unknown>)[] = [];
afterEach(async () => {
  for (const close of closers.splice(0).reverse()) await close();
});

/** A debug node that shows complete messages. */
const shown = (id: string): FlowNode => ({
  id,
  type: "debug",
  z: "tab",
  active: true,
  tosidebar: true,
  complete: "true",
  targetType: "full",
  wires: [],
});

const flowFor = (service: OpenedElsewhere, fields: Readonly<Record<string, unknown>> = {}): FlowNode[] => [
  { id: "tab", type: "tab", label: "Test" },
  service.node,
  {
    id: "notices",
    type: "rigbridge-notification-in",
    z: "tab",
    version: 1,
    service: "service",
    scope: "all",
    interval: 1,
    wires: [["out"]],
    ...fields,
  },
  { id: "inject", type: "inject", z: "tab", props: [], wires: [["coin"]] },
  {
    id: "coin",
    type: "rigbridge-coin-profit",
    z: "tab",
    version: 1,
    service: "service",
    wires: [["out"]],
    action: "payload",
    actionType: "msg",
  },
  { id: "catch", type: "catch", z: "tab", scope: null, wires: [["errors"]] },
  shown("out"),
  shown("errors"),
];

async function start(version: (typeof versions)[number], options: NodeRedOptions = {}): Promise<NodeRed> {
  const red = await startNodeRed(version, options);
  closers.push(() => red.close());
  return red;
}

/** With it, a file that our nodes write has its name 1.5 s later. */
const slowDisk = `data:text/javascript,${encodeURIComponent(`
  import files from "node:fs/promises";
  import { syncBuiltinESMExports } from "node:module";
  const { rename } = files;
  files.rename = async (...paths) => {
    await new Promise((resolve) => setTimeout(resolve, 1_500));
    return rename(...paths);
  };
  syncBuiltinESMExports();
`)}`;

/** A user folder with the nodes in it. */
async function userFolder(): Promise<string> {
  const userDir = await mkdtemp(join(tmpdir(), "node-red-"));
  closers.push(() => rm(userDir, { recursive: true, force: true }));
  await mkdir(join(userDir, "node_modules", "@rigbridge"), { recursive: true });
  await symlink(
    fileURLToPath(new URL("../../nodes", import.meta.url)),
    join(userDir, "node_modules", "@rigbridge", "node-red"),
  );
  return userDir;
}

const others = { actor: "somebody else" };

/** Resolves when the nodes of a newly deployed flow have the expected status. */
const ready = (red: NodeRed) =>
  until(() => ["notices", "coin"].every((id) => red.status(id)?.text === "connected"), "both nodes to connect", {
    details: red.log,
  });

describe.each(versions)("Node-RED %i", (version) => {
  test("reports notifications once, even after a deploy, and those that came while it was restarted", async () => {
    const service = await openElsewhere();
    closers.push(() => service.close());
    const userDir = await userFolder();
    const red = await start(version, { userDir, env: { NODE_OPTIONS: `--import=${slowDisk}` } });
    const notifications = async () => (await service.service.listNotifications({}, others)).notificationList;
    const file = join(userDir, "told.txt");
    const kept: FlowNode = {
      id: "kept",
      type: "file",
      z: "tab",
      filename: file,
      filenameType: "str",
      appendNewline: true,
      overwriteFile: "false",
      createDir: false,
      encoding: "none",
      wires: [[]],
    };
    /** The rigs of all messages. Debug nodes cannot be watched before a flow has started. */
    const told = async () => {
      const lines = (await readFile(file, "utf8").catch(() => "")).split("\n").slice(0, -1);
      return lines.map((line) => z.object({ minerName: z.string() }).parse(JSON.parse(line)).minerName);
    };
    const flow = (fields: Readonly<Record<string, unknown>> = {}) => [
      ...flowFor(service, { wires: [["out", "kept"]], ...fields }),
      kept,
    ];
    await red.deploy(flow(), service.credentials);
    await ready(red);
    service.switchOff("Rig B");
    await until(() => red.messages("out").length === 1, "the notification about Rig B", { details: red.log });
    expect(red.messages("out")[0]).toMatchObject({
      event: "new",
      payload: { minerName: "Rig B", isWarning: true },
      miner: { name: "Rig B" },
    });
    await red.deploy(flow({ limit: 10, openAtFirst: true }));
    await until(() => red.status("notices")?.text === "connected", "the redeployed node to connect", {
      details: red.log,
    });
    await service.service.allNotificationsAction({ action: "clear_all" }, others);
    await until(() => red.messages("out").length > 0, "the message about the removal", { details: red.log });
    expect(red.messages("out")).toMatchObject([{ event: "closed", payload: { minerName: "Rig B" } }]);
    expect(red.messages("errors")).toEqual([]);

    service.switchOff("Rig A");
    await until(async () => (await told()).includes("Rig A"), "the notification about Rig A", { details: red.log });
    await closers.pop()?.();
    service.switchOff("Rig C");
    await until(async () => (await notifications()).length === 2, "the service to list the notification about Rig C");
    const again = await start(version, { userDir });
    await until(async () => (await told()).includes("Rig C"), "the notification that came in between", {
      details: again.log,
    });
    expect(await told()).toEqual(["Rig B", "Rig B", "Rig A", "Rig C"]);
  });

  test("sends errors in a filter and in a coin to Catch nodes, with their code", async () => {
    const service = await openElsewhere();
    closers.push(() => service.close());
    const red = await start(version);
    await red.deploy(flowFor(service, { scope: "miners", miners: "Nobody" }), service.credentials);
    await until(() => red.messages("errors").length === 1, "the error about the unknown miner", { details: red.log });
    expect(red.messages("errors")[0]).toMatchObject({
      error: { code: "not.found", message: 'Miners: unknown miner "Nobody"', source: { id: "notices" } },
    });
    await until(() => red.status("coin")?.text === "connected", "the coin profit node to connect", {
      details: red.log,
    });
    await red.inject("inject", { payload: { action: "set", shortName: "BTC", profit: "1,5" } });
    await until(() => red.messages("errors").length === 2, "the error about the invalid profit", { details: red.log });
    expect(red.messages("errors")[1]).toMatchObject({
      error: {
        code: "input.invalid",
        message: expect.stringMatching(/^profit: must be/),
        source: { id: "coin" },
      },
    });
    await red.inject("inject", { payload: { action: "set", shortName: "BTC", profit: 1e-12 } });
    await until(() => red.messages("out").length === 1, "the confirmation of the new profit", { details: red.log });
    expect(red.messages("out")[0]).toMatchObject({ topic: "BTC", payload: { success: true } });
  });
});
