import { afterAll, beforeAll, expect } from "@jest/globals";
import { closeContexts, testInBrowser as test } from "../chromium.ts";
import { type Dashboard, startDashboard } from "./dashboard.ts";

const viewer = "key-of-a-viewer-1234";
const admin = "key-of-an-admin-1234";
const desk = 1_000_000_001;

let dashboard: Dashboard;

beforeAll(async () => {
  dashboard = await startDashboard({
    config: {
      users: [
        { name: "Vera", key: viewer, privilege: "view" },
        { name: "Ada", key: admin, privilege: "administrator" },
      ],
    },
    rigs: ["Desk", "Hall"].map((name) => ({ name, rig: { kind: "axeos", warm: true } })),
  });
});

afterAll(async () => {
  await dashboard?.close();
  await closeContexts();
});

test("a rig is put in repair with a note, found again from the overview, and its story tells of it", async () => {
  const { page: at, close } = await dashboard.visit(`rigs/${desk}`, { key: admin });
  await at.getByRole("button", { name: "Put in repair" }).click();
  const dialog = at.getByRole("dialog", { name: "Put in repair" });
  await dialog.getByLabel("What is done with it").fill("board 2 sent to the workshop");
  await dialog.getByRole("button", { name: "Put in repair" }).click();
  await at.getByText("board 2 sent to the workshop").waitFor();

  await at.getByRole("navigation", { name: "Pages" }).getByRole("link", { name: "Overview" }).click();
  await at.getByRole("link", { name: "1 in repair, not in these sums" }).click();
  const rows = at.getByRole("row").filter({ hasText: "board 2 sent to the workshop" });
  await rows.getByRole("link", { name: "Desk" }).waitFor();
  expect(await at.getByRole("link", { name: "Hall" }).count()).toBe(0);

  await rows.getByRole("link", { name: "Desk" }).click();
  await at.getByRole("button", { name: "End repair" }).click();
  await at.getByRole("button", { name: "Put in repair" }).waitFor();
  await at.getByRole("link", { name: "Activity" }).last().click();
  await at.getByLabel("Add a note").fill("new fans");
  await at.getByRole("button", { name: "Add", exact: true }).click();
  const story = at.locator(".story > li");
  await story.filter({ hasText: "Note: new fans" }).waitFor();
  expect(await story.filter({ hasText: "Ada" }).count()).toBe(3);
  await close();
});

test("a user who may only look sees the repair, and no button that changes it", async () => {
  await dashboard.service.changeMiner({ id: desk, repair: { note: "fans" } }, { actor: "test" });
  const { page: at, close } = await dashboard.visit(`rigs/${desk}`, { key: viewer });
  await at.getByText("fans", { exact: true }).waitFor();
  expect(await at.getByRole("button", { name: /repair|note/i }).count()).toBe(0);
  await close();
});
