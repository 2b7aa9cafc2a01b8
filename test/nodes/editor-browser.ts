import type { Locator, Page } from "playwright-core";
import { z } from "zod";
import { newPage } from "../chromium.ts";
import type { NodeRed } from "./real-node-red.ts";

/** ms without a dialog, after which a node is clicked again. */
const clickedAgainMs = 20_000;

export const languages = ["en-US", "de"] as const;

export interface EditorOptions {
  readonly language?: (typeof languages)[number];
  readonly isDark?: boolean;
  readonly width?: number;
  /** Results of the search for services, instead of those on this network. */
  readonly found?: readonly unknown[];
}

/** Node-RED's editor in a browser. */
export interface Editor {
  readonly page: Page;
  /** Errors reported by the browser. */
  readonly faults: readonly string[];
  /** The dialog on top. */
  dialog(): Locator;
  /** A field of a node's dialog. */
  field(name: string): Locator;
  /** The visible input of a typed field. */
  typed(name: string): Locator;
  /** The suggestions for a typed field. */
  readonly offers: Locator;
  /** Drags a node from the palette to the middle of the flow; returns its id. */
  drag(type: string): Promise<string>;
  /** A node of the flow. */
  node(id: string): Locator;
  /** The status under a node. */
  status(id: string): Locator;
  /** The triangle at a node with invalid fields. */
  invalid(id: string): Locator;
  /** Draws a wire from the first output of one to another. */
  wire(from: string, to: string): Promise<void>;
  /** Opens a node's dialog. */
  open(id: string): Promise<void>;
  /** Opens the dialog of the service on top of a node's: that of the one chosen, or of a new one. */
  openService(button: "add" | "edit"): Promise<void>;
  /** Opens the sidebar's help; it stays with the node of the dialog on top. */
  showHelp(): Promise<void>;
  readonly help: Locator;
  /** Visible fields of the top dialog without an accessible name. */
  unlabelled(): Promise<readonly string[]>;
  /** px by which the dialog on top is wider than its window. */
  overflow(): Promise<number>;
  /** Contrast of a text in the dialog as defined by WCAG: 1 to 21. */
  contrast(selector: string): Promise<number>;
  /** Closes the dialog on top by its button. */
  end(button: "ok" | "cancel"): Promise<void>;
  deploy(): Promise<void>;
  close(): Promise<void>;
}

/** Opens the editor and waits until it shows the flow and the palette. */
export async function openEditor(red: NodeRed, options: EditorOptions = {}): Promise<Editor> {
  const { language = "en-US", isDark = false, width = 1500, found = [] } = options;
  const page = await newPage(width, 1000);
  const faults: string[] = [];
  page.on("pageerror", (error) => faults.push(error.message));
  page.on("console", (message) => {
    if (message.type() === "error") faults.push(`${message.text()} ${message.location().url}`);
  });
  const kept = { "editor-language": language, "view-dark-theme": isDark ? "dark" : "light" };
  await page.addInitScript(`Object.assign(localStorage, ${JSON.stringify(kept)})`);
  // Its first tip, due after a second, is an error where the editor takes longer to load.
  await red.request("/settings/user", {
    method: "POST",
    headers: { "content-type": "application/json" },
    body: JSON.stringify({ editor: { view: { "view-show-tips": false } } }),
  });
  await page.route("**/rigbridge/found*", (route) => route.fulfill({ json: found }));
  await page.goto(red.url);
  await page.locator(".red-ui-palette-node[data-palette-type=rigbridge-miner-action]").waitFor();
  await page.locator("#red-ui-loading-progress").waitFor({ state: "hidden" });
  return editorOn(page, faults);
}

function editorOn(page: Page, faults: readonly string[]): Editor {
  const trays = page.locator(".red-ui-tray");
  const dialog = (): Locator => trays.last();
  const field = (name: string): Locator => page.locator(`#node-input-${name}`);
  const nodes = page.locator(".red-ui-flow-node-group");
  const node = (id: string): Locator => page.locator(`[id="${id}"].red-ui-flow-node-group`);
  // It slides in and then focuses its first element; a key pressed or a text typed meanwhile would go there.
  const opened = (tray: Locator): Promise<void> => tray.locator(".red-ui-tray-body :focus").waitFor();
  return {
    page,
    faults,
    dialog,
    field,
    node,
    typed: (name) => field(name).locator("xpath=..").locator(".red-ui-typedInput-input"),
    offers: page.locator(".red-ui-autoComplete-container .rigbridge-offer"),
    drag: async (type) => {
      const before = await nodes.count();
      const inPalette = page.locator(`.red-ui-palette-node[data-palette-type="${type}"]`);
      await inPalette.dragTo(page.locator("#red-ui-workspace-chart"), { targetPosition: { x: 500, y: 250 } });
      const added = nodes.nth(before);
      return (await added.getAttribute("id")) ?? "";
    },
    status: (id) => node(id).locator(".red-ui-flow-node-status-label"),
    invalid: (id) => node(id).locator(".red-ui-flow-node-error"),
    wire: (from, to) =>
      node(from)
        .locator(".red-ui-flow-port-output .red-ui-flow-port")
        .first()
        .dragTo(node(to).locator(".red-ui-flow-port-input .red-ui-flow-port")),
    showHelp: () => dialog().locator(".red-ui-tray-footer .fa-book").click(),
    help: page.locator(".red-ui-help:has(> .red-ui-help-title)"),
    unlabelled: async () => z.array(z.string()).parse(await page.evaluate(unlabelled)),
    overflow: async () => z.number().parse(await page.evaluate(overflow)),
    contrast: async (selector) => z.number().parse(await page.evaluate(contrast(selector))),
    open: async (id) => {
      // Its middle may be outside it, since the status below belongs to it.
      const shape = node(id).locator("rect.red-ui-flow-node");
      const button = dialog().locator(".red-ui-tray-toolbar button").last();
      await shape.dblclick();
      // For the editor, clicks that a busy browser handles more than 650 ms apart are no double click.
      await button.waitFor({ timeout: clickedAgainMs }).catch(() => shape.dblclick());
      await button.waitFor();
      await opened(dialog());
    },
    openService: async (button) => {
      await page.locator(`#node-input-btn-service-${button}`).click();
      await opened(trays.filter({ has: page.locator("#rigbridge-test") }));
    },
    end: async (button) => {
      const id = await dialog().locator(`.red-ui-tray-toolbar button[id$="-${button}"]`).getAttribute("id");
      await page.locator(`#${id}`).click();
      await page.locator(`#${id}`).waitFor({ state: "detached" });
    },
    deploy: async () => {
      const kept = page.waitForResponse(
        (reply) => reply.url().endsWith("/flows") && reply.request().method() === "POST",
      );
      await page.locator("#red-ui-header-button-deploy:not(.disabled)").click();
      await kept;
      await page.locator("#red-ui-header-button-deploy.disabled").waitFor();
    },
    close: () => page.close(),
  };
}

const overflow = `(() => {
  const body = [...document.querySelectorAll(".red-ui-tray-body")].at(-1);
  return body.scrollWidth - body.clientWidth;
})()`;

const unlabelled = `[...[...document.querySelectorAll(".red-ui-tray")].at(-1).querySelectorAll(".form-row input, .form-row select")]
  .filter((field) => field.offsetParent !== null)
  .filter((field) => field.labels.length === 0 && !field.ariaLabel && !field.closest(".red-ui-typedInput-container"))
  .map((field) => field.id || field.outerHTML)`;

const contrast = (selector: string): string => `(() => {
  const shown = [...document.querySelectorAll(${JSON.stringify(selector)})].find((each) => each.offsetParent !== null);
  const parts = (colour) => colour.match(/[\\d.]+/g).map(Number);
  const behind = (element) => {
    const colour = getComputedStyle(element).backgroundColor;
    return (parts(colour)[3] ?? 1) === 0 ? behind(element.parentElement) : colour;
  };
  const light = (colour) => {
    const [red, green, blue] = parts(colour).map((part) => {
      const share = part / 255;
      return share <= 0.04045 ? share / 12.92 : ((share + 0.055) / 1.055) ** 2.4;
    });
    return 0.2126 * red + 0.7152 * green + 0.0722 * blue;
  };
  const [less, more] = [light(getComputedStyle(shown).color), light(behind(shown))].sort((a, b) => a - b);
  return (more + 0.05) / (less + 0.05);
})()`;
