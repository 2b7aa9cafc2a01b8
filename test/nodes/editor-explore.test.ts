import { test } from "@jest/globals";
import { closeBrowser, openEditor } from "./editor-browser.ts";
import { startNodeRed } from "./real-node-red.ts";
import { openElsewhere, testKey } from "./service-kinds.ts";

test("explore", async () => {
  const t = Date.now();
  const log = (what: string) => process.stderr.write(`${Date.now() - t} ${what}\n`);
  const service = await openElsewhere();
  const red = await startNodeRed(5);
  log("red");
  const flow = [
    { id: "tab", type: "tab", label: "Test" },
    service.node,
    { id: "in", type: "inject", z: "tab", x: 150, y: 80, props: [], wires: [[]] },
    ...["miner-action", "miner-in", "miner-get", "coin-profit", "notification-in", "summary-in"].map((each, i) => ({
      id: `n-${each}`, type: `rigbridge-${each}`, z: "tab", x: 250, y: 160 + i * 70, service: "service", version: 1, scope: "all", wires: [[]],
    })),
  ];
  await red.deploy(flow, service.credentials);
  try {
    for (const [language, isDark, width] of [["en-US", false, 1500], ["de", true, 1500]] as const) {
      const editor = await openEditor(red, { language, isDark, width, found: [{ url: "http://127.0.0.1:17790", name: "minibox", version: "0.1.0", kind: "rigbridge" }] });
      log("editor");
      await editor.page.screenshot({ path: `/tmp/ed/${language}-flow.png` });
      for (const each of ["miner-action", "miner-in", "miner-get", "coin-profit", "notification-in", "summary-in"]) {
        await editor.open(`n-${each}`);
        log(`open ${each}`);
        await editor.page.screenshot({ path: `/tmp/ed/${language}-${each}.png` });
        if (each === "summary-in") {
          await editor.page.locator("#node-input-btn-service-edit").click();
          await editor.page.locator("#node-config-input-url").waitFor();
          await editor.page.locator("#rigbridge-test").click();
          await editor.page.locator("#rigbridge-tested div").first().waitFor();
          await editor.page.screenshot({ path: `/tmp/ed/${language}-service.png` });
          await editor.page.locator("#node-config-input-mode").selectOption("inside");
          await editor.page.screenshot({ path: `/tmp/ed/${language}-service-inside.png` });
          await editor.end("cancel");
        }
        await editor.end("cancel");
      }
      const id = await editor.drag("rigbridge-miner-action");
      log(`dragged ${id}`);
      await editor.open(id);
      await editor.typed("miners").fill("");
      await editor.typed("miners").press("ArrowDown");
      await editor.page.screenshot({ path: `/tmp/ed/${language}-offers.png` });
      await editor.typed("miners").pressSequentially("R");
      await editor.offers.first().waitFor();
      await editor.page.screenshot({ path: `/tmp/ed/${language}-offers2.png` });
      log(JSON.stringify(editor.faults));
      await editor.close();
    }
    log(testKey);
  } finally {
    await closeBrowser();
    await red.close();
    await service.close();
  }
});
