import { afterAll, beforeAll, describe, expect } from "@jest/globals";
import { closeContexts, testInBrowser } from "../chromium.ts";
import { until } from "../until.ts";
import { axe, type Dashboard, overflow, startDashboard } from "./dashboard.ts";

const caller = { actor: "test" };
const hostile = `<img src=x onerror="alert(1)">${"wide".repeat(30)}`;
let dashboard: Dashboard;

beforeAll(async () => {
  const rig = { kind: "axeos", warm: true } as const;
  dashboard = await startDashboard({
    rigs: [
      { name: "Attic", rig },
      { name: hostile, rig },
      { name: "Cellar", rig },
      { name: "Shed", rig },
    ],
  });
});

afterAll(async () => {
  await dashboard?.close();
  await closeContexts();
});

const goneAway = async (index: number): Promise<void> => {
  dashboard.rigs[index]?.powerOff();
  await until(async () => {
    await dashboard.readAll();
    const { notificationList } = await dashboard.service.listNotifications({}, caller);
    const id = 1_000_000_001 + index;
    return notificationList.some(({ minerId, closedUtc }) => minerId === id && closedUtc === null);
  }, "the alarm");
};

describe("alarms in the dashboard", () => {
  testInBrowser("appear while one looks, are acknowledged, are over by themselves, and are cleared", async () => {
    const { page, close } = await dashboard.visit("alarms");
    await page.getByRole("heading", { name: "No open alarms" }).waitFor();
    expect(await axe(page)).toEqual([]);
    await goneAway(0);
    // By an event: nothing is reloaded.
    await page.getByText("Disconnected").first().waitFor();
    await page.getByRole("link", { name: "1 open alarm" }).waitFor();
    await page.getByRole("button", { name: "Acknowledge", exact: true }).click();
    await page.getByText("acknowledged", { exact: true }).waitFor();
    // It is still open, as the list below shows.
    await page.getByRole("link", { name: "1 open alarm · 0 not acknowledged" }).waitFor();
    await page.getByText("1 open alarm · 0 not acknowledged").waitFor();
    await dashboard.rigs[0]?.powerOn();
    await dashboard.readAll();
    await page.getByRole("heading", { name: "No open alarms" }).waitFor();
    await page.getByRole("button", { name: "History" }).click();
    await page.waitForURL(/state=closed/);
    await page.getByText("over since").waitFor();
    await page.getByRole("button", { name: "Clear", exact: true }).click();
    await page.getByText("No alarm fits these filters").waitFor();
    await close();
  });

  testInBrowser("that one page acknowledges or clears are so on every other page", async () => {
    const [one, other] = [await dashboard.visit("alarms"), await dashboard.visit("alarms")];
    dashboard.service.setWarning?.("The disk is nearly full", "12 MB are left.");
    for (const { page } of [one, other]) await page.getByText("12 MB are left.").waitFor();
    await one.page.getByRole("button", { name: "Acknowledge", exact: true }).click();
    await other.page.getByText("acknowledged", { exact: true }).waitFor();
    await other.page.getByRole("link", { name: "1 open alarm · 0 not acknowledged" }).waitFor();
    await other.page.getByRole("button", { name: "Clear", exact: true }).click();
    await one.page.getByRole("heading", { name: "No open alarms" }).waitFor();
    await one.page.getByRole("button", { name: "All", exact: true }).click();
    await one.page.getByText("No alarm fits these filters").waitFor();
    dashboard.service.setWarning?.("The disk is nearly full", null);
    for (const { close } of [one, other]) await close();
  });

  testInBrowser("of many rigs are one group; filters stand in the address; hostile names stay text", async () => {
    const { page, close } = await dashboard.visit("alarms", { width: 375 });
    for (const index of [1, 2, 3]) await goneAway(index);
    await page.getByText("3 rigs").waitFor();
    const overview = await dashboard.visit("");
    const attention = overview.page.locator("section.card").filter({ hasText: "Needs attention" });
    await attention.getByRole("link", { name: "3 rigs" }).waitFor();
    expect(await attention.getByRole("listitem").count()).toBe(1);
    await attention.getByRole("link", { name: "3 rigs" }).click();
    await overview.page.getByText("Show all 3").waitFor();
    await overview.close();
    await page.getByText("Show all 3").click();
    await page.getByText(hostile.slice(0, 20)).first().waitFor();
    expect(await overflow(page)).toBeLessThanOrEqual(0);
    expect(await axe(page)).toEqual([]);
    await page.getByRole("searchbox").fill("shed");
    await until(() => page.url().includes("q=shed"), "the filter in the address");
    await page.reload();
    await page.getByText("Shed").first().waitFor();
    expect(await page.getByText("Cellar").count()).toBe(0);
    await page.getByRole("searchbox").fill("");
    await page.getByRole("button", { name: "Acknowledge 3" }).click();
    await page.getByText("3 alarms acknowledged").waitFor();
    await page.getByRole("button", { name: "Not acknowledged" }).click();
    await page.getByText("No alarm fits these filters").waitFor();
    await page.getByRole("button", { name: "All", exact: true }).click();
    // Filtered, the buttons above concern what is listed.
    await page.getByRole("searchbox").fill("shed");
    await page.getByRole("main").getByRole("button", { name: "Clear 1" }).click();
    await page.getByRole("dialog").getByRole("button", { name: "Clear 1" }).click();
    await page.getByText("No alarm fits these filters").waitFor();
    const left = async () =>
      (await dashboard.service.listNotifications({}, caller)).notificationList.map(({ minerName }) => minerName);
    expect((await left()).sort()).toEqual([hostile, "Cellar"].sort());
    await page.getByRole("searchbox").fill("");
    await page.getByRole("button", { name: "Open", exact: true }).click();
    await page.getByRole("button", { name: "Clear all" }).click();
    await page.getByRole("dialog").getByRole("button", { name: "Clear all" }).click();
    await page.getByRole("heading", { name: "No open alarms" }).waitFor();
    expect((await dashboard.service.listNotifications({}, caller)).notificationList).toEqual([]);
    await close();
  });

  testInBrowser("are counted alike in the head, above the list and on the overview, infos with them", async () => {
    dashboard.service.setWarning?.("The disk is nearly full", "12 MB are left.");
    dashboard.service.setWarning?.("The clock is wrong", "It is 4 min late.");
    const { page, close } = await dashboard.visit("rigs");
    await page.route("**/api/notifications", async (route) => {
      const answer = await route.fetch();
      const { notificationList, ...others } = await answer.json();
      const infos = notificationList.map((each: object) => ({ ...each, severity: "info", isWarning: false }));
      await route.fulfill({ json: { ...others, notificationList: infos } });
    });
    await page.goto(`${dashboard.url}/alarms`);
    await page.getByRole("link", { name: "2 open alarms", exact: true }).waitFor();
    await page.locator("main .lead").getByText("2 open alarms", { exact: true }).waitFor();
    expect(await page.locator("ul.alarms > li").count()).toBe(2);
    await page.goto(dashboard.url);
    await page.getByText("Nothing needs attention.").waitFor();
    await page.locator(".tile").filter({ hasText: "Alarms" }).getByText("2", { exact: true }).waitFor();
    for (const title of ["The disk is nearly full", "The clock is wrong"]) dashboard.service.setWarning?.(title, null);
    await close();
  });

  testInBrowser("are readable from right to left", async () => {
    const { page, close } = await dashboard.visit("alarms?state=all", { locale: "fa", width: 375 });
    expect(await page.locator("html").getAttribute("dir")).toBe("rtl");
    expect(await axe(page)).toEqual([]);
    expect(await overflow(page)).toBeLessThanOrEqual(0);
    await close();
  });
});
