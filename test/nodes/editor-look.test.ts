import { test } from "@jest/globals";
import { closeBrowser, openEditor } from "./editor-browser.ts";
import { startNodeRed } from "./real-node-red.ts";
test("look", async () => {
  const red = await startNodeRed(5);
  await red.deploy([{ id: "tab", type: "tab" }, ...["miner-in", "notification-in"].map((t, i) => ({ id: `n${i}`, type: `rigbridge-${t}`, z: "tab", x: 100, y: 60 + i * 80, version: 1, scope: "all", wires: [] }))]);
  const editor = await openEditor(red, { language: "de", isDark: true, width: 800 });
  editor.page.setDefaultTimeout(8000);
  try {
  await editor.open("n0");
  await editor.field("when").selectOption("threshold");
  await editor.page.locator("#rigbridge-measure option").first().waitFor({ state: "attached" });
  await editor.dialog().screenshot({ path: "/tmp/ed/z1.png" });
  await editor.end("cancel");
  await editor.open("n1");
  await editor.dialog().screenshot({ path: "/tmp/ed/z2.png" });
  } finally {
  await closeBrowser();
  await red.close(); }
});
