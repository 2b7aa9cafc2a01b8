import { afterAll, beforeAll, expect } from "@jest/globals";
import { closeContexts, testInBrowser } from "../chromium.ts";
import { axe, type Dashboard, startDashboard } from "./dashboard.ts";

const caller = { actor: "test" };
let dashboard: Dashboard;

beforeAll(async () => {
  dashboard = await startDashboard({
    rigs: [
      { rig: { kind: "axeos", warm: true }, name: "Desk", settings: { group: "Hall" } },
      { rig: { kind: "axeos", warm: true }, name: "Shelf", settings: { group: "Den", location: { site: "North" } } },
    ],
    config: { http: { key: "the-key-of-the-owner" }, groups: [{ name: "Hall" }, { name: "Den" }] },
  });
});
afterAll(async () => {
  await dashboard?.close();
  await closeContexts();
});

testInBrowser(
  "a wall needs no sign-in beyond the view key in its address, and ends when the key is revoked",
  async () => {
    const key = "a-key-of-the-wall-in-the-hall";
    const { id: userId } = await dashboard.service.saveUser({ id: 0, name: "Wall", privilege: "view", key }, caller);
    const asked: string[] = [];
    // The browser writes each refused request of a page without a session on its console.
    const { page, close } = await dashboard.visit(`wall#key=${key}`, { expected: /status of 401/ });
    page.on("request", (request) => asked.push(request.url()));
    await page.reload();
    const hall = page.getByRole("listitem").filter({ has: page.getByRole("heading", { name: "Hall" }) });
    await hall.getByText("1 of 1 mining").waitFor();
    expect(await page.getByRole("navigation").count()).toBe(0);
    expect(asked.filter((url) => url.includes(key))).toEqual([]);
    await page.getByLabel("A tile for each").selectOption("Site");
    await page.getByRole("heading", { name: "North" }).waitFor();
    await page.getByRole("heading", { name: "Without a site" }).waitFor();
    expect(new URL(page.url()).hash).toBe(`#key=${key}`);
    expect(await axe(page)).toEqual([]);
    await dashboard.service.saveUser({ id: userId, key: null }, caller);
    await page.reload();
    await page.getByText("This key is wrong, or was revoked.").waitFor();
    expect(await page.getByRole("heading", { name: "North" }).count()).toBe(0);
    await close();
  },
);

testInBrowser("the login code in an address signs in once, and leaves the address", async () => {
  const code = dashboard.loginCode() ?? "";
  const first = await dashboard.visit(`#code=${code}`, { expected: /status of 401/ });
  await first.page.getByRole("navigation").first().waitFor();
  await first.page.waitForFunction(() => location.hash === "");
  await first.page.reload();
  await first.page.getByRole("navigation").first().waitFor();
  await first.close();
  const second = await dashboard.visit(`#code=${code}`, { expected: /status of 401/ });
  await second.page.getByText("This code was used already").waitFor();
  await second.close();
});

testInBrowser("tiles that do not fit follow on the next screen, by itself or by hand", async () => {
  const { page, close } = await dashboard.visit("wall?by=rig", { key: "the-key-of-the-owner" });
  await page.setViewportSize({ width: 375, height: 330 });
  await page.getByText("1 of 2").waitFor();
  await page.getByRole("heading", { name: "Desk" }).waitFor();
  expect(await page.getByRole("listitem").count()).toBe(1);
  await page.getByRole("button", { name: "Next screen" }).click();
  await page.getByRole("heading", { name: "Shelf" }).waitFor();
  await page.getByRole("button", { name: "Next screen" }).click();
  await page.getByRole("heading", { name: "Desk" }).waitFor();
  await close();
});
