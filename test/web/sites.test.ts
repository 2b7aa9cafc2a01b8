import { afterAll, afterEach, expect } from "@jest/globals";
import { pino } from "pino";
import { parse } from "yaml";
import { HttpSettings } from "../../src/config/schema.ts";
import type { MiningService } from "../../src/contract/service.ts";
import { numberAt } from "../../src/contract/site-numbers.ts";
import { startHttpServer } from "../../src/http/index.ts";
import { owner, startCentre, startSite } from "../centre/centre-bench.ts";
import { link, startHiddenSite, startOpenCentre } from "../centre/connecting-bench.ts";
import { closeContexts, newPage, testInBrowser as test } from "../chromium.ts";
import { onTestFinished } from "../finished.ts";
import { freePort } from "../free-port.ts";
import { closeBenches } from "../service/bench.ts";
import { until } from "../until.ts";
import { axe, follow } from "./dashboard.ts";

// depends on: src/web/**, src/centre/**

afterEach(closeBenches);
afterAll(closeContexts);

async function serve(service: MiningService) {
  const log = pino({ level: "silent" });
  const server = await startHttpServer({ service, settings: HttpSettings.parse({ port: 0 }), log, version: "test" });
  onTestFinished(() => server.close());
  const page = await newPage(1440, 900);
  onTestFinished(() => page.close());
  return { page, url: server.url };
}

test("the page of sites names each with its state, and every page says what cannot be reached until it is back", async () => {
  const rig = { kind: "cgminer", warm: true } as const;
  const barn = await startSite("Barn", { rigs: [rig] });
  const cabin = await startSite("Cabin", { rigs: [rig, rig] });
  const markup = "<img src=x onerror=\"document.title='taken'\">";
  const { centre, reaches } = await startCentre([{ ...barn, name: markup }, cabin]);
  const { page, url } = await serve(centre);

  await page.goto(`${url}/rigs`);
  await page.getByText("3 rigs").first().waitFor();
  await page.getByRole("navigation", { name: "Pages" }).getByRole("link", { name: "Sites" }).click();
  const card = (name: string) => page.locator(".card").filter({ has: page.getByRole("heading", { name }) });
  await card("Cabin").getByText("Connected", { exact: true }).waitFor();
  expect(await page.getByText("Out of reach").count()).toBe(0);
  // A name is text, wherever it comes from.
  await card(markup).getByText("Connected", { exact: true }).waitFor();
  expect([await page.locator("img[src=x]").count(), await page.title()]).toEqual([
    0,
    expect.not.stringMatching("taken"),
  ]);

  await cabin.cut();
  await reaches("Cabin", "unreachable");
  await card("Cabin").getByText("Unreachable", { exact: true }).waitFor();
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

test("a site that was never reached is named without a last contact, beside one that was", async () => {
  const barn = await startSite("Barn", { rigs: [{ kind: "cgminer", warm: true }] });
  const nobody = { name: "Nobody", url: `http://127.0.0.1:${await freePort()}`, key: "key-of-nobody-at-all" };
  const { centre, reaches } = await startCentre([barn, nobody], { waits: false });
  await Promise.all([reaches("Barn", "connected"), reaches("Nobody", "unreachable")]);
  const { page, url } = await serve(centre);
  await page.goto(`${url}/rigs`);
  await page.getByText(/^Not reached since this service started: Nobody\. Their rigs are in no sum\.$/).waitFor();
  await barn.cut();
  await reaches("Barn", "unreachable");
  await page.getByText(/Out of reach: Barn\. .* 1 rig is shown .* Not reached .*: Nobody\./).waitFor();
});

test("the page of sites makes the token of a site that connects by itself, shows it once, and revokes it", async () => {
  const centre = await startOpenCentre(["Cabin", "Shed"], { rigs: [] });
  const cabin = await startHiddenSite([{ kind: "cgminer", warm: true }]);
  const page = await newPage(1440, 900);
  onTestFinished(() => page.close());
  await page.goto(`${centre.server.url}/sites`);
  await page.getByLabel("API key").fill("key-of-this-service-itself");
  await page.keyboard.press("Enter");
  const card = page.locator(".card").filter({ has: page.getByRole("heading", { name: "Cabin" }) });
  await card.getByText("It has no token with which it could connect").waitFor();
  expect(await card.getByRole("link", { name: "Open its dashboard" }).count()).toBe(0);
  await card.getByRole("button", { name: "Make a token" }).click();
  const dialog = page.getByRole("dialog");
  await dialog.getByRole("button", { name: "Make a token" }).click();
  const line = await dialog.getByLabel("Line for the site").inputValue();
  const { centre: settings } = parse(line);
  expect(settings).toEqual({ url: centre.server.url, token: expect.stringMatching(/^[\w-]{43}$/) });
  const isTooWide = () => document.documentElement.scrollWidth > document.documentElement.clientWidth;
  await page.setViewportSize({ width: 375, height: 800 });
  expect(await page.evaluate(isTooWide)).toBe(false);
  await dialog.getByRole("button", { name: "Done" }).click();
  await card.getByText("It has not connected to here yet").waitFor();
  expect(await page.content()).not.toContain(settings.token);

  const linked = link(cabin, settings);
  await card.getByText("Connected", { exact: true }).waitFor();
  await card.getByRole("button", { name: "Revoke token" }).click();
  await dialog.getByText("The site is disconnected at once, and goes on alone.").waitFor();
  await dialog.getByRole("button", { name: "Revoke token" }).click();
  await card.getByText("Unreachable", { exact: true }).waitFor();
  await linked.says("refuses this site (its token was revoked)");
  await card.getByRole("button", { name: "Make a token" }).waitFor();
});

test("rigs are listed and filtered by their site, what a site decides is changed there, and a rig of a lost site is shown as it was", async () => {
  const rig = { kind: "axeos", warm: true } as const;
  const cabin = await startSite("Cabin", { rigs: [rig] });
  const { id } = await cabin.bench.service.addRule({ key: "too-hot", name: "Too hot" }, owner);
  const own = { rigs: [{ kind: "cgminer", warm: true }] } as const;
  const { centre, reaches, own: bench } = await startCentre([cabin], { own });
  await bench.add(bench.rig(0).address, { name: "Garage" });
  const [row] = (await cabin.bench.service.listMinerRows({ view: "list" }, owner)).miners;
  const { page, url } = await serve(centre);

  await page.goto(`${url}/rigs?columns=name,site`);
  await page.getByText("2 rigs").first().waitFor();
  await page
    .getByRole("row")
    .filter({ hasText: row?.name ?? "" })
    .getByText("Cabin", { exact: true })
    .waitFor();
  await follow(page, "/rigs?site=Cabin&columns=name,site");
  await page.getByText("Garage").waitFor({ state: "detached" });
  await page.getByRole("link", { name: row?.name ?? "" }).waitFor();

  await follow(page, "/rules");
  const there = page.getByRole("link", { name: "Changed at Cabin" });
  await there.waitFor();
  expect(await there.getAttribute("href")).toBe(cabin.url);
  expect(await page.getByRole("checkbox", { name: /Too hot/ }).count()).toBe(0);
  await follow(page, `/rules/${numberAt(1, id)}?part=settings`);
  await page.getByText("It belongs to the site Cabin. Change it there.").first().waitFor();
  expect(await page.getByRole("button", { name: "Delete" }).count()).toBe(0);

  await follow(page, `/rigs/${numberAt(1, row?.id ?? 0)}`);
  await page.getByRole("button", { name: "Read now" }).waitFor();
  await cabin.cut();
  await reaches("Cabin", "unreachable");
  await page.getByText(/The site Cabin has been out of reach since .+ This is what was last known\./).waitFor();
  await page.getByText("Mining", { exact: true }).first().waitFor();
  expect(await page.getByRole("button", { name: "Read now" }).count()).toBe(0);
  await page.reload();
  await page.getByText(/The site Cabin has been out of reach/).waitFor();
  await page.getByText("Mining", { exact: true }).first().waitFor();
  expect(await axe(page, ["light"])).toEqual([]);
  await cabin.join();
  await reaches("Cabin", "connected");
  await page.getByRole("button", { name: "Read now" }).waitFor();
});

test("a rule for other sites says at each of them whether it acts there, and is only shown at the site", async () => {
  const [barn, cabin] = [await startSite("Barn"), await startSite("Cabin")];
  const sites = [barn, cabin].map(({ name, url, key }) => ({ name, url, key }));
  const { centre } = await startCentre([barn, cabin], { own: { config: { sites } } });
  await cabin.bench.service.addRule({ key: "greet", do: [{ notify: "all", severity: "info", text: "hello" }] }, owner);
  await centre.addRule(
    { key: "greet", name: "Greeting", do: [{ notify: "all", severity: "info", text: "hello" }] },
    owner,
  );
  const { page, url } = await serve(centre);
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

  const there = await serve(barn.bench.service);
  await there.page.goto(`${there.url}/rules/1?part=settings`);
  await there.page.getByText("It belongs to the centre head-office; change it there.").waitFor();
  await there.page.goto(`${there.url}/rules`);
  await there.page.getByRole("button", { name: "Release" }).click();
  const dialog = there.page.getByRole("dialog");
  await dialog.getByRole("button", { name: "Release" }).click();
  await there.page.getByText("from the centre head-office").waitFor({ state: "detached" });
  expect((await barn.bench.service.listRules({}, owner)).rules).toMatchObject([{ key: "greet", owner: "store" }]);
});

test("a pool is given to a site in its form, and is only shown there", async () => {
  const barn = await startSite("Barn");
  const sites = [{ name: barn.name, url: barn.url, key: barn.key }];
  const { centre } = await startCentre([barn], { own: { config: { sites } } });
  const { page, url } = await serve(centre);
  await page.goto(`${url}/pools`);
  await page.getByRole("button", { name: "Add pool" }).first().click();
  const dialog = page.getByRole("dialog");
  await dialog.getByLabel("Name").fill("Main");
  await dialog.getByLabel("Address").fill("stratum+tcp://main.example:3333");
  await dialog.getByRole("group", { name: "Sites that get it" }).getByLabel("Barn").check();
  await dialog.getByRole("button", { name: "Save" }).click();
  await dialog.waitFor({ state: "detached" });
  await until(async () => (await barn.bench.service.listPools({}, owner)).list.length === 1, "the site to have it");
  await page.reload();
  await page.getByText("at 1 site").waitFor();
  // The pool at the site is the same.
  expect(await page.getByText("stratum+tcp://main.example:3333").count()).toBe(1);
  const there = await serve(barn.bench.service);
  await there.page.goto(`${there.url}/pools`);
  await there.page.getByText("from the centre head-office").waitFor();
  expect(await there.page.getByRole("button", { name: /^(Edit|Delete): Main/ }).count()).toBe(0);
});

test("a managed template is given to a site in its form, and is only shown there", async () => {
  const barn = await startSite("Barn");
  const sites = [{ name: barn.name, url: barn.url, key: barn.key }];
  const { centre } = await startCentre([barn], { own: { config: { sites } } });
  const { id } = await centre.saveManagedTemplate(
    { id: 0, name: "Blink", do: [{ set: "locate", value: true }] },
    owner,
  );
  const { page, url } = await serve(centre);
  await page.goto(`${url}/rules/templates/${id}`);
  const chosen = page.getByRole("group", { name: "Sites that get it" }).getByLabel("Barn");
  await chosen.check();
  await page.getByRole("button", { name: "Save" }).click();
  const copy = page.locator(".rule-copies li").filter({ hasText: "Barn" });
  await copy.getByText("acts there").waitFor();
  await page.goto(`${url}/rules?tab=templates`);
  await page.getByText("at 1 site").waitFor();
  // The template at the site is the same.
  expect(await page.getByRole("link", { name: "Blink" }).count()).toBe(1);

  const there = await serve(barn.bench.service);
  await there.page.goto(`${there.url}/rules?tab=templates`);
  await there.page.getByText("from the centre head-office").waitFor();
  await there.page.getByRole("link", { name: "Blink" }).click();
  await there.page.getByText("It belongs to the centre head-office; change it there.").waitFor();
  for (const name of ["Save", "Delete", "Remove"])
    expect(await there.page.getByRole("button", { name, exact: true }).count()).toBe(0);

  await page.goto(`${url}/rules/templates/${id}`);
  await chosen.uncheck();
  await page.getByRole("button", { name: "Save" }).click();
  await until(async () => barn.bench.store.templates.all().length === 0, "the template to leave the site");
});
