import { afterAll, beforeAll, describe, expect } from "@jest/globals";
import { closeContexts, testInBrowser } from "../chromium.ts";
import { until } from "../until.ts";
import { isWhole } from "../whole.ts";
import { type Editor, type EditorOptions, languages, openEditor } from "./editor-browser.ts";
import { type FlowNode, type NodeRed, type Status, startNodeRed } from "./real-node-red.ts";
import { type OpenedElsewhere, openElsewhere, testKey } from "./service-kinds.ts";

let red: NodeRed;
let service: OpenedElsewhere;
beforeAll(async () => {
  service = await openElsewhere();
  red = await startNodeRed(5);
});
afterAll(async () => {
  await closeContexts();
  await red.close();
  await service.close();
});

/** The nodes in the palette, and their names there. */
const nodes = [
  { type: "rigbridge-miner-action", called: { "en-US": "miner action", de: "Miner-Aktion" } },
  { type: "rigbridge-miner-in", called: { "en-US": "miner in", de: "Miner-Eingang" } },
  { type: "rigbridge-miner-get", called: { "en-US": "miner get", de: "Miner-Abfrage" } },
  { type: "rigbridge-coin-profit", called: { "en-US": "coin profit", de: "Coin-Profit" } },
  { type: "rigbridge-notification-in", called: { "en-US": "notification in", de: "Meldungs-Eingang" } },
  { type: "rigbridge-summary-in", called: { "en-US": "summary in", de: "Übersichts-Eingang" } },
] as const;

const tab: FlowNode = { id: "tab", type: "tab", label: "Test" };

async function withEditor(options: EditorOptions, work: (editor: Editor) => Promise<void>): Promise<void> {
  const editor = await openEditor(red, options);
  try {
    await work(editor);
  } finally {
    await editor.close();
  }
}

const isConnected = ({ text }: Status): boolean => text === "connected";

const serviceField = (editor: Editor, name: string) => editor.page.locator(`#node-config-input-${name}`);

describe("Node-RED's editor", () => {
  testInBrowser("asks once for the name and the service, also after the package was installed again", async () => {
    await red.deploy([tab]);
    await withEditor({}, async (editor) => {
      const { page } = editor;
      const id = await editor.drag("rigbridge-summary-in");
      // What Node-RED's editor does then: the page of the node is appended once more.
      await page.evaluate(`
        $("#red-ui-editor-node-configs").append($('script[data-template-name="rigbridge-summary-in"]').clone());
        rigbridge.head("rigbridge-summary-in");
      `);
      await editor.open(id);
      for (const [field, label] of [
        ["name", "Name"],
        ["service", "Service"],
      ] as const) {
        expect(await page.locator(`label[for="node-input-${field}"]`).allTextContents()).toEqual([label]);
        expect(await page.locator(`#node-input-${field}`).count()).toBe(1);
      }
    });
  });

  testInBrowser("leads from the palette to a miner that executed a command", async () => {
    const inject = { id: "in", type: "inject", z: "tab", x: 150, y: 250, props: [], wires: [[]] };
    await red.deploy([tab, { ...inject, repeat: "", once: false }]);
    const url = String(service.node.url);
    const found = [
      { url, name: "shed", version: "0.1.0", kind: "rigbridge" },
      { url: "http://192.0.2.7:17790", name: "garage", version: "0.1.0", kind: "rigbridge" },
    ];
    await withEditor({ found }, async (editor) => {
      const { page } = editor;
      const id = await editor.drag("rigbridge-miner-action");
      await editor.invalid(id).waitFor();
      await editor.wire("in", id);

      await editor.open(id);
      await editor.openService("add");
      await until(
        async () => (await serviceField(editor, "url").inputValue()) === url,
        "the dialog to fill in the found address",
      );
      expect(await page.locator("#rigbridge-found option").allTextContents()).toEqual([
        expect.stringContaining("choose"),
        `shed (0.1.0) ${url}`,
        "garage (0.1.0) http://192.0.2.7:17790",
      ]);
      await page.locator("#rigbridge-test").click();
      await page.locator("#rigbridge-tested.rigbridge-warning:has-text('key')").waitFor();
      await serviceField(editor, "key").fill(testKey);
      await page.locator("#rigbridge-test").click();
      await page.locator("#rigbridge-tested:not(.rigbridge-warning)", { hasText: "3 miners (0 offline)" }).waitFor();
      await editor.end("ok");
      await page.locator("#rigbridge-miner-fields .rigbridge-note", { hasText: "not deployed yet" }).waitFor();
      await editor.field("scope").selectOption("all");
      await editor.end("ok");
      await editor.deploy();
      await editor
        .status(id)
        .filter({ hasText: /^\s*connected/ })
        .waitFor();

      await editor.open(id);
      await editor.field("scope").selectOption("miners");
      await editor.typed("miners").press("ArrowDown");
      await editor.offers.nth(2).waitFor();
      expect(await editor.offers.allTextContents()).toEqual(
        ["Rig A", "Rig B", "Rig C"].map((name) => expect.stringMatching(new RegExp(`^${name}.*127\\.0\\.0\\.1`))),
      );
      await editor.offers.filter({ hasText: "Rig A" }).click();
      await editor.typed("action").press("ArrowDown");
      const grey = page.locator(".rigbridge-offer.rigbridge-grey");
      await grey.first().waitFor();
      expect(await grey.filter({ hasText: "(power_limit)" }).textContent()).toMatch(/Rig A: it does not support this$/);
      expect(await grey.filter({ hasText: "(restart)" }).count()).toBe(0);
      await editor.offers.filter({ hasText: "(restart)" }).click();
      await editor.end("ok");
      await editor.invalid(id).waitFor({ state: "hidden" });
      const before = red.statuses(id).length;
      await editor.deploy();
      // The editor shows the status of before the deployment until there is a new one.
      await until(() => red.statuses(id).slice(before).some(isConnected), "the deployed node to connect");

      const injected = page.waitForResponse((reply) => reply.url().endsWith("/inject/in"));
      await editor.node("in").locator(".red-ui-flow-node-button-button").click();
      expect((await injected).status()).toBe(200);
      let status: string | null = null;
      await until(
        async () => {
          status = await editor.status(id).textContent();
          return /^\s*Rig A: .+ · \d\d:\d\d\s*$/.test(status ?? "");
        },
        "the node's status to show the rig's answer",
        { details: () => `It shows: ${status}` },
      );
      expect(editor.faults).toEqual(
        ["Failed to load resource: the server responded with a status of 401"].map((text) =>
          expect.stringContaining(text),
        ),
      );
      expect(
        JSON.stringify(await page.evaluate("RED.nodes.createCompleteNodeSet({ credentials: false })")),
      ).not.toContain(testKey);
    });
  });

  const shown = languages.filter((language) => isWhole || language === "de");
  testInBrowser.each(shown.map((language) => ({ language, theme: language === "de" ? "dark" : "light" })))(
    "shows every dialog in $language, with help, in a $theme theme",
    async ({ language, theme }) => {
      const flow = nodes.map(({ type }, index) => ({
        id: `n-${index}`,
        type,
        z: "tab",
        x: 200,
        y: 80 + index * 60,
        version: 1,
        service: "service",
        wires: [],
        scope: "all",
        action: "restart",
      }));
      await red.deploy([tab, service.node, ...flow], service.credentials);
      await withEditor({ language, isDark: theme === "dark" }, async (editor) => {
        const { page } = editor;
        expect(await page.locator("html.nr-theme-dark").count()).toBe(theme === "dark" ? 1 : 0);
        for (const [index, { type, called }] of nodes.entries()) {
          expect(await page.locator(`.red-ui-palette-node[data-palette-type=${type}]`).innerText()).toMatch(
            new RegExp(called[language].replace(/[ -]/g, "[\\s-]*")),
          );
          await editor.open(`n-${index}`);
          if (index === 0) await editor.showHelp();
          await checkDialog(editor, type, language);
          if (index === nodes.length - 1) {
            await editor.openService("edit");
            for (const mode of ["elsewhere", "inside"]) {
              await serviceField(editor, "mode").selectOption(mode);
              await checkDialog(editor, "rigbridge-service", language);
            }
            expect(await editor.contrast(".rigbridge-inside .rigbridge-note")).toBeGreaterThan(4.5);
            await editor.end("cancel");
          }
          await editor.end("cancel");
        }
        expect(editor.faults).toEqual([]);
      });
    },
  );

  testInBrowser("takes any name while the service is away, and fits into a narrow window", async () => {
    const act = { id: "act", type: "rigbridge-miner-action", z: "tab", x: 100, y: 60, version: 1, service: "service" };
    await red.deploy([tab, service.node, { ...act, scope: "all", action: "restart", wires: [] }], service.credentials);
    await service.away();
    await until(
      () => red.status("act")?.text?.startsWith("not connected: ") === true,
      "the node to show that the service is away",
      { details: red.log },
    );
    await withEditor({ width: 760 }, async (editor) => {
      await editor.open("act");
      await editor.field("scope").selectOption("miners");
      await editor.field("queue").selectOption("all");
      await editor.page.locator("#rigbridge-miner-fields .rigbridge-note", { hasText: "Any name" }).waitFor();
      expect(await editor.overflow()).toBeLessThanOrEqual(0);
      await editor.typed("miners").fill("Rig Z");
      await editor.typed("miners").press("Tab");
      await editor.end("ok");
      await editor.deploy();
      const deployed = await (await red.request("/flows")).json();
      expect(deployed).toContainEqual(expect.objectContaining({ id: "act", miners: "Rig Z", minersType: "str" }));
    });
    await service.back();
  });
});

const headings = { "en-US": /Inputs|Outputs|Elsewhere/, de: /Eingänge|Ausgänge|Anderswo/ } as const;

/** Every field has a label, nothing is cut off, and the help is the node's. */
async function checkDialog(editor: Editor, type: string, language: (typeof languages)[number]): Promise<void> {
  const dialog = editor.dialog();
  const labels = await dialog.locator(".form-row label:visible").allInnerTexts();
  const words = labels.filter((label) => label !== "");
  expect(words.length).toBeGreaterThan(2);
  for (const text of await dialog.locator("label, option, .rigbridge-note").allInnerTexts())
    expect([type, text]).toEqual([type, expect.not.stringMatching(/rigbridge-|^(field|editor|problem)\.|__/)]);
  expect([type, await editor.unlabelled()]).toEqual([type, []]);
  expect([type, await editor.overflow()]).toEqual([type, 0]);
  const called = nodes.find((each) => each.type === type)?.called[language] ?? type;
  await editor.help.filter({ hasText: called }).filter({ hasText: headings[language] }).waitFor();
}
