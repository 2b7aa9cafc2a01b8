import { afterAll, afterEach, expect } from "@jest/globals";
import { pino } from "pino";
import { HttpSettings } from "../../src/config/schema.ts";
import type { MiningService } from "../../src/contract/service.ts";
import { startHttpServer } from "../../src/http/index.ts";
import { owner, startCentre, startSite } from "../centre/centre-bench.ts";
import { closeContexts, newPage, testInBrowser as test } from "../chromium.ts";
import { onTestFinished } from "../finished.ts";
import { closeBenches } from "../service/bench.ts";

// depends on: src/web/**, src/centre/**

afterEach(closeBenches);
afterAll(closeContexts);

const log = pino({ level: "silent" });

/** A page on the dashboard of a service. */
async function dashboard(service: MiningService) {
  const settings = HttpSettings.parse({ port: 0 });
  const server = await startHttpServer({ service, settings, log, version: "test" });
  onTestFinished(() => server.close());
  const page = await newPage(1440, 900);
  onTestFinished(() => page.close());
  return { page, url: server.url };
}

test("the page of sites names each with its state, and every page says what cannot be reached until it is back", async () => {
  const rig = { kind: "cgminer", warm: true } as const;
  const barn = await startSite("Barn", { rigs: [rig] });
  const cabin = await startSite("Cabin", { rigs: [rig, rig] });
  const { centre, reaches } = await startCentre([barn, cabin]);
  const { page, url } = await dashboard(centre);

  await page.goto(`${url}/rigs`);
  await page.getByText("3 rigs").first().waitFor();
  await page.getByRole("navigation", { name: "Pages" }).getByRole("link", { name: "Sites" }).click();
  const card = (name: string) => page.locator(".card").filter({ has: page.getByRole("heading", { name }) });
  await card("Cabin").getByText("Connected").waitFor();
  expect(await page.getByText("Out of reach").count()).toBe(0);

  await cabin.cut();
  await reaches("Cabin", "unreachable");
  await card("Cabin").getByText("Unreachable").waitFor();
  await page.getByText(/Out of reach: Cabin\. .* 2 rigs are shown as they were then, and are in no sum\./).waitFor();
  await page.getByRole("navigation", { name: "Pages" }).getByRole("link", { name: "Overview" }).click();
  await page.getByText(/1 of 1 rigs? mining/).waitFor();
  await page.setViewportSize({ width: 375, height: 800 });
  const isTooWide = () => document.documentElement.scrollWidth > document.documentElement.clientWidth;
  expect(await page.evaluate(isTooWide)).toBe(false);

  await cabin.join();
  await reaches("Cabin", "connected");
  await page.getByText("Out of reach").waitFor({ state: "detached" });
  await page.getByText(/3 of 3 rigs mining/).waitFor();
});

test("a rule for other sites says at each of them whether it acts there, and is only shown at the site", async () => {
  const [barn, cabin] = [await startSite("Barn"), await startSite("Cabin")];
  const sites = [barn, cabin].map(({ name, url, key }) => ({ name, url, key }));
  const { centre } = await startCentre([barn, cabin], { own: { config: { sites } } });
  await cabin.bench.service.addRule({ key: "greet", do: [{ notify: "all", text: "hello" }] }, owner);
  await centre.addRule({ key: "greet", name: "Greeting", do: [{ notify: "all", text: "hello" }] }, owner);
  const { page, url } = await dashboard(centre);
  await page.goto(`${url}/rules/1?part=settings`);
  await page.getByText("Add…").last().click();
  await page.getByRole("button", { name: /^Acts at/ }).click();
  const add = page.getByRole("combobox", { name: "Acts at" });
  for (const name of ["Barn", "Cabin"]) {
    await add.fill(name);
    await page.getByRole("option", { name }).click();
  }
  await page.getByText(/at Barn, Cabin/).waitFor();
  await page.getByRole("button", { name: "Save" }).click();
  const copy = (name: string) => page.locator(".rule-copies li").filter({ hasText: name });
  await copy("Barn").getByText("acts there").waitFor();
  await copy("Cabin").getByText("not taken").waitFor();
  await copy("Cabin").getByText('key: "greet" is the key of rule 1 already').waitFor();
  await page.goto(`${url}/rules`);
  await page.getByText("at 1 site").waitFor();
  await page.getByText("not taken by 1 site").waitFor();
  // The copy at Barn stands with its rule; the rule of Cabin is another.
  expect(await page.locator(".rule").count()).toBe(2);

  const there = await dashboard(barn.bench.service);
  await there.page.goto(`${there.url}/rules/1?part=settings`);
  await there.page.getByText("It belongs to the centre head-office; change it there.").waitFor();
  await there.page.goto(`${there.url}/rules`);
  await there.page.getByRole("button", { name: "Release" }).click();
  const dialog = there.page.getByRole("dialog");
  await dialog.getByRole("button", { name: "Release" }).click();
  await there.page.getByText("from the centre head-office").waitFor({ state: "detached" });
  expect((await barn.bench.service.listRules({}, owner)).rules).toMatchObject([{ key: "greet", owner: "store" }]);
});
