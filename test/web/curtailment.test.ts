import { afterAll, beforeAll, expect } from "@jest/globals";
import { closeContexts, testInBrowser as test } from "../chromium.ts";
import { axe, type Dashboard, overflow, startDashboard } from "./dashboard.ts";

const key = "the-key-of-the-owner";
const rig = { kind: "whatsminer", password: "admin", warm: true, restartSeconds: 0 } as const;
const settings = { driver: "whatsminer", password: "admin" };

let dashboard: Dashboard;

beforeAll(async () => {
  dashboard = await startDashboard({
    rigs: ["Attic", "Cellar", "Barn"].map((name) => ({
      name,
      rig,
      settings: { ...settings, tags: [name === "Barn" ? "far" : "near"] },
    })),
    config: {
      http: { key },
      users: [
        { name: "Guest", key: "the-key-of-a-guest-1", privilege: "view" },
        { name: "Operator", key: "the-key-of-an-operator", privilege: "control" },
      ],
    },
  });
});
afterAll(async () => {
  await dashboard?.close();
  await closeContexts();
});

test("a plan is added, changed, tried, and begun after its preview; its curtailment is ended and reported", async () => {
  const { page, close } = await dashboard.visit("curtailment", { key, expected: /status of 400/ });
  const dialog = page.getByRole("dialog");
  await page.getByText("No curtailment is under way").waitFor();
  await page.getByText("There are no plans yet").waitFor();

  await page.getByRole("button", { name: "Add a plan" }).click();
  await dialog.getByLabel("Key").fill("peak hours");
  await dialog.getByLabel("Kilowatts").fill("3");
  await dialog.getByRole("button", { name: "Save" }).click();
  await dialog.getByText(/must be 1 to 64 of A-Z/).waitFor();
  await dialog.getByLabel("Key").fill("peak");
  await dialog.getByLabel("Name").fill("Peak hours");
  expect(await axe(page, ["dark"])).toEqual([]);
  await dialog.getByRole("button", { name: "Save" }).click();
  const plan = page.getByRole("listitem").filter({ hasText: "Peak hours" });
  await plan.getByText("3,000 W less").waitFor();
  await page.getByRole("button", { name: "Edit: Peak hours" }).click();
  await dialog.getByLabel("Kilowatts").fill("2.5");
  await dialog.getByText("Pace").click();
  await dialog.getByLabel("Rigs that are restored at once").fill("1");
  await dialog.getByRole("button", { name: "Save" }).click();
  await plan.getByText("2,500 W less").waitFor();

  await page.getByRole("button", { name: "Drill: Peak hours" }).click();
  await dialog.getByRole("button", { name: "Drill" }).click();
  await page.getByRole("heading", { name: "Curtailment 1" }).waitFor();
  await page.getByText("Nothing was sent: it was a drill").first().waitFor();
  await page.getByRole("main").getByRole("link", { name: "Curtailment" }).click();

  await page.getByRole("button", { name: "Begin a curtailment: Peak hours" }).click();
  const begin = dialog.getByRole("button", { name: "Begin", exact: true });
  expect(await begin.isDisabled()).toBe(true);
  await dialog.getByLabel("Reason").fill("Peak of the grid");
  // Enter shows the preview, and begins nothing.
  await page.keyboard.press("Enter");
  await dialog.getByText(/^Rigs: \d lowered, \d stopped$/).waitFor();
  expect(await axe(page, ["light"])).toEqual([]);
  await begin.click();

  const card = page.locator(".card").filter({ has: page.getByRole("heading", { name: "Peak of the grid" }) });
  await card.getByText("Holding", { exact: true }).waitFor();
  await card.getByText(/^Lowered: \d$/).waitFor();
  expect(await card.getByRole("progressbar").count()).toBe(1);
  await page.setViewportSize({ width: 390, height: 844 });
  expect(await overflow(page)).toBe(0);
  expect(await axe(page)).toEqual([]);
  // Another target and end, from its card and from its own page; a mistake stays at its field.
  await card.getByRole("button", { name: "Change" }).click();
  await dialog.getByText(/^Target: /).waitFor();
  await dialog.getByLabel("Until when").fill("2020-01-01T00:00");
  await dialog.getByLabel("Kilowatts").fill("3");
  await page.keyboard.press("Enter");
  await dialog.getByText("must be in the future").first().waitFor();
  expect(await overflow(page)).toBe(0);
  expect(await axe(page, ["dark"])).toEqual([]);
  await dialog.getByLabel("Until when").fill("2099-01-01T00:00");
  await dialog.getByRole("button", { name: "Save" }).click();
  await card.getByText("3,000 W less").waitFor();
  await page.setViewportSize({ width: 1440, height: 900 });
  await card.getByRole("link", { name: "Report" }).click();
  await page.getByRole("button", { name: "Change" }).click();
  await dialog.getByLabel("Until when").fill("");
  await dialog.getByRole("button", { name: "Save" }).click();
  await dialog.waitFor({ state: "hidden" });
  expect((await dashboard.service.getCurtailment({ id: 2 }, { actor: "test" })).until).toBeNull();
  await page.getByRole("main").getByRole("link", { name: "Curtailment" }).click();
  await card.getByRole("button", { name: "End" }).click();
  await dialog.getByText("Its rigs get back the power that they had.").waitFor();
  await dialog.getByRole("button", { name: "End" }).click();
  await page.getByText("No curtailment is under way").waitFor();
  await page.getByRole("link", { name: "Peak of the grid" }).click();
  await page.getByRole("heading", { name: "Curtailment 2" }).waitFor();
  await page.getByText("Restored").first().waitFor();
  const csv = page.getByRole("link", { name: "CSV" });
  const address = await csv.evaluate((link) => (link instanceof HTMLAnchorElement ? link.href : ""));
  const answer = await page.context().request.get(address);
  expect(await answer.text()).toMatch(/^\u{FEFF}curtailment,plan,reason,.*\r\n2,peak,Peak of the grid,/u);
  await close();
});

test("a curtailment of a tag is begun, and released by an administrator", async () => {
  const { page, close } = await dashboard.visit("curtailment", { key, expected: /status of 400/ });
  const dialog = page.getByRole("dialog");
  await page.getByRole("button", { name: "Begin a curtailment", exact: true }).click();
  await dialog.getByRole("combobox", { name: "Tags" }).fill("far");
  await dialog.getByLabel("Target").selectOption("Stop all rigs");
  await dialog.getByRole("button", { name: "Preview" }).click();
  await dialog.getByText("Rigs: 0 lowered, 1 stopped").waitFor();
  await dialog.getByRole("button", { name: "Begin", exact: true }).click();
  // What it is asked without stays in the dialog.
  await dialog.getByText("must not be empty").first().waitFor();
  await dialog.getByLabel("Reason").fill("Storm");
  await dialog.getByRole("button", { name: "Begin", exact: true }).click();
  const card = page.locator(".card").filter({ has: page.getByRole("heading", { name: "Storm" }) });
  await card.getByText("Holding", { exact: true }).waitFor();
  await card.getByRole("button", { name: "Release" }).click();
  await dialog.getByRole("button", { name: "Release" }).click();
  await page.getByRole("link", { name: "Storm" }).click();
  await page.getByText("Left as they are").first().waitFor();
  await close();
});

test("a user sees only what the user may do: guests a preview, operators no plans and no release", async () => {
  const guest = await dashboard.visit("curtailment", { key: "the-key-of-a-guest-1" });
  await guest.page.getByRole("button", { name: "Preview" }).click();
  const dialog = guest.page.getByRole("dialog");
  await dialog.getByLabel("Kilowatts").fill("1");
  await dialog.getByRole("button", { name: "Preview" }).click();
  await dialog.getByText(/^Rigs: \d lowered, \d stopped$/).waitFor();
  expect(await dialog.getByRole("button", { name: "Begin", exact: true }).count()).toBe(0);
  expect(await guest.page.getByRole("button", { name: /plan|Drill|Edit/i }).count()).toBe(0);
  await guest.close();
  const operator = await dashboard.visit("curtailment", { key: "the-key-of-an-operator" });
  await operator.page.getByRole("button", { name: "Begin a curtailment", exact: true }).waitFor();
  expect(await operator.page.getByRole("button", { name: /plan|Drill|Edit|Release/ }).count()).toBe(0);
  await operator.close();
});
