import { afterAll, describe, expect } from "@jest/globals";
import { z } from "zod";
import { closeContexts, testInBrowser } from "../chromium.ts";
import { until } from "../until.ts";
import { isWhole } from "../whole.ts";
import { type Editor, openEditor } from "./editor-browser.ts";
import { type ExampleName, exampleService, importExample } from "./examples-flow.ts";
import { type NodeRed, startNodeRed, type Version, versions } from "./real-node-red.ts";

afterAll(closeContexts);

/** An editor of a Node-RED of its own, with nothing deployed. */
async function withEditor(version: Version, work: (editor: Editor, red: NodeRed) => Promise<void>): Promise<void> {
  const red = await startNodeRed(version);
  try {
    const editor = await openEditor(red);
    try {
      await work(editor, red);
    } finally {
      await editor.close();
    }
  } finally {
    await red.close();
  }
}

const Services = z.array(z.looseObject({ id: z.string(), users: z.number(), url: z.string() }));
const Flows = z.array(z.looseObject({ id: z.string(), type: z.string(), service: z.string().optional() }));

describe.each(isWhole ? versions : versions.slice(0, 1))("the editor of Node-RED %i", (version) => {
  testInBrowser("imports one example after the other without a question; they share one service", async () => {
    await withEditor(version, async (editor, red) => {
      const { page } = editor;
      const services = async () =>
        Services.parse(
          await page.evaluate(`(() => {
            const found = [];
            RED.nodes.eachConfig((node) => {
              if (node.type === "rigbridge-service") found.push({ id: node.id, users: node.users.length, url: node.url });
            });
            return found;
          })()`),
        );
      const names: readonly ExampleName[] = ["daily-report", "automatic-restart", "alert-by-http"];
      for (const [index, name] of names.entries()) {
        await page.keyboard.press("Control+i");
        await page.locator("#red-ui-clipboard-dialog-import-text").fill(JSON.stringify(await importExample(red, name)));
        // The dialog checks its text after a key.
        await page.locator("#red-ui-clipboard-dialog-import-text").press("Shift");
        await page.locator("#red-ui-clipboard-dialog-ok:not([disabled])").click();
        await page
          .locator("#red-ui-workspace-tabs .red-ui-tab")
          .nth(index + 1)
          .waitFor();
        expect((await services()).map(({ id, url }) => ({ id, url }))).toEqual([
          { id: exampleService.id, url: exampleService.url },
        ]);
      }
      expect((await services())[0]?.users).toBe(7);
      await editor.deploy();
      const deployed = Flows.parse(await (await red.request("/flows")).json());
      expect(deployed.filter(({ type }) => type === "rigbridge-service")).toHaveLength(1);
      expect([...new Set(deployed.flatMap(({ service }) => service ?? []))]).toEqual([exampleService.id]);
      expect(editor.faults).toEqual([]);
    });
  });

  testInBrowser("keeps the login of each rig with the credentials, and forgets that of a removed one", async () => {
    await withEditor(version, async (editor, red) => {
      const { page } = editor;
      await red.deploy([
        { id: "tab", type: "tab", label: "Test" },
        { ...exampleService, id: "own", mode: "inside", rigs: [{ address: "127.0.0.1:9", name: "", group: "" }] },
        {
          id: "get",
          type: "rigbridge-miner-get",
          z: "tab",
          version: 1,
          service: "own",
          scope: "all",
          x: 200,
          y: 100,
          wires: [[]],
        },
      ]);
      await page.reload();
      const stored = async () => {
        const reply = await red.request("/credentials/rigbridge-service/own");
        return z.record(z.string(), z.unknown()).parse(await reply.json());
      };
      const field = (name: string) => page.locator(`#node-config-input-${name}`);
      const openService = async () => {
        await editor.open("get");
        await editor.openService("edit");
        await page.locator("#rigbridge-rigs .rigbridge-address").first().waitFor();
      };
      const save = async () => {
        await editor.end("ok");
        await editor.end("ok");
        await editor.deploy();
      };
      await openService();
      await page.locator("#rigbridge-rigs .fa-key").first().click();
      await field("username_1").fill("root");
      await field("password_1").fill("invented-password");
      await page.locator(".red-ui-editableList-addButton:visible").click();
      await page.locator("#rigbridge-rigs .rigbridge-address").nth(1).fill("127.0.0.1:10");
      expect(await field("password_2").isVisible()).toBe(false);
      await save();
      expect(await stored()).toMatchObject({ username_1: "root", has_password_1: true, has_password_2: false });
      const flows = await (await red.request("/flows")).text();
      expect(flows).not.toContain("invented-password");
      expect(JSON.parse(flows)).toContainEqual(
        expect.objectContaining({
          id: "own",
          rigs: [expect.objectContaining({ login: 1 }), expect.objectContaining({ address: "127.0.0.1:10", login: 2 })],
        }),
      );
      await openService();
      expect(await field("password_1").inputValue()).toBe("__PWRD__");
      expect(await editor.unlabelled()).toEqual([]);
      expect(await editor.overflow()).toBe(0);
      await page.locator("#rigbridge-rigs .red-ui-editableList-item-remove").first().click();
      await until(
        async () => (await page.locator("#rigbridge-rigs .rigbridge-address").count()) === 1,
        "the row to go",
      );
      await save();
      expect(await stored()).toMatchObject({ username_1: "", has_password_1: false });
      expect(editor.faults).toEqual([]);
    });
  });
});
