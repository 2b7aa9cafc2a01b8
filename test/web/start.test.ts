import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, describe, expect } from "@jest/globals";
import { startFarm } from "../../src/simulator/index.ts";
import { closeContexts, testInBrowser } from "../chromium.ts";
import { running } from "../cli/command.ts";
import { onTestFinished } from "../finished.ts";
import { freePort } from "../free-port.ts";
import { startMosquitto, subscribeAt } from "../mqtt/mosquitto.ts";
import { ownHost } from "../own-host.ts";
import { axe, overflow, visitOf } from "./dashboard.ts";

// depends on: src/**, mosquitto

afterAll(closeContexts);

/** Only what a person reads. */
const english = {
  begin: "Begin",
  networks: "Networks",
  search: "Search",
  add: "Add 1 rig",
  added: "1 of 1 rigs added",
  demoLeft: "The demo has left",
  decide: "Throw away",
  next: "Next step",
  currency: "Currency",
  price: "Price per kWh",
  save: "Save",
  costs: /^A kWh costs/,
  noneFound: "None announces itself on your network",
  address: "Address of the broker",
  user: "User name",
  password: "Password",
  test: "Test",
  refused: "fails",
  works: "works",
  connected: "MQTT: connected",
  allow: "Let phones and other devices in",
  key: "Key",
  restart: "Restart now",
  scanKey: "Then scan this, copy the key, and sign in with it",
  finish: "Finish",
};
const german: typeof english = {
  begin: "Beginnen",
  networks: "Netze",
  search: "Suchen",
  add: "1 Rig hinzufügen",
  added: "1 von 1 Rigs hinzugefügt",
  demoLeft: "Die Demo ist weg",
  decide: "Behalten",
  next: "Nächster Schritt",
  currency: "Währung",
  price: "Preis je kWh",
  save: "Speichern",
  costs: /^Eine kWh kostet jetzt/,
  noneFound: "Keiner meldet sich im Netz",
  address: "Adresse des Brokers",
  user: "Benutzername",
  password: "Passwort",
  test: "Testen",
  refused: "klappt nicht",
  works: "klappt",
  connected: "MQTT: verbunden",
  allow: "Handys und andere Geräte zulassen",
  key: "Schlüssel",
  restart: "Jetzt neu starten",
  scanKey: "Dann das scannen, den Schlüssel kopieren und damit anmelden",
  finish: "Fertig",
};

const ready = /is ready at (http:\/\/\S+:\d+)/;

describe("the first start, by somebody who knows only the words on the page", () => {
  testInBrowser.each([
    ["en-US", english, 1440, 0],
    ["de-DE", german, 375, 1],
  ] as const)("%s", async (locale, words, width, rulesAfter) => {
    const folder = await mkdtemp(join(tmpdir(), "rigbridge-start-"));
    const farm = await startFarm({ rigs: [{ kind: "axeos", warm: true, host: ownHost() }] });
    const broker = await startMosquitto({ users: { rigs: "the-right-word" } });
    const port = await freePort();
    const service = await running(["serve", "--data", folder, "--port", String(port)], ready, { cwd: folder });
    onTestFinished(async () => {
      service.signal("SIGKILL");
      await service.ended;
      await broker.stop();
      await farm.close();
      await rm(folder, { recursive: true });
    });
    const url = `http://127.0.0.1:${port}`;
    // What a browser notes of the moment in which the service starts anew, and of other pages that need the key.
    const expected = /Failed to load resource: (net::ERR_|the server responded with a status of 401)|ERR_CONNECTION/;
    const { page, close } = await visitOf(url, "", { locale, width, expected });
    const button = (name: string) => page.getByRole("button", { name, exact: true });
    const next = () => page.getByRole("link", { name: words.next }).click();

    const rules = async () => {
      const list = (await (await fetch(`${url}/api/rules`)).json()) as { rules: { name: string }[] };
      return list.rules.map(({ name }) => name);
    };
    await fetch(`${url}/api/rules`, {
      method: "POST",
      headers: { "content-type": "application/json" },
      body: JSON.stringify({ name: "Only to try", do: [{ action: "restart" }] }),
    });
    expect(await rules()).toHaveLength(4);

    await page.getByRole("link", { name: words.begin }).click();
    await page.getByLabel(words.networks, { exact: true }).fill(farm.rigs[0]?.address ?? "");
    await button(words.search).click();
    await button(words.add).click();
    const dialog = page.getByRole("dialog", { name: words.demoLeft });
    await dialog.getByText("Only to try").waitFor();
    expect(await axe(page)).toEqual([]);
    await dialog.getByRole("button", { name: words.decide }).click();
    await dialog.waitFor({ state: "detached" });
    expect(await rules()).toHaveLength(rulesAfter);
    await page.getByText(words.added).waitFor();
    expect(await axe(page)).toEqual([]);
    expect(await overflow(page)).toBe(0);
    await next();

    await page.getByLabel(words.currency).fill("EUR");
    await page.getByLabel(words.price).fill("0,30");
    await button(words.save).click();
    await page.getByText(words.costs).waitFor();
    await next();

    await page.getByText(words.noneFound).waitFor();
    await page.getByLabel(words.address).fill(`127.0.0.1:${broker.port}`);
    await page.getByLabel(words.user).fill("rigs");
    await page.getByLabel(words.password).fill("a-wrong-word");
    await button(words.test).click();
    await page.getByText(words.refused, { exact: true }).waitFor();
    await page.getByLabel(words.password).fill("the-right-word");
    await button(words.test).click();
    await page.getByText(words.works, { exact: true }).waitFor();
    expect(await axe(page)).toEqual([]);
    await button(words.save).click();
    await page.getByText(words.connected).waitFor();
    await next();

    await button(words.allow).click();
    const key = await page.getByLabel(words.key, { exact: true }).inputValue();
    expect(key).toMatch(/^[\w-]{43}$/);
    await button(words.restart).click();
    await page.getByRole("img", { name: words.scanKey }).waitFor();
    expect(await axe(page)).toEqual([]);
    expect(await overflow(page)).toBe(0);
    await page.getByRole("link", { name: words.finish }).click();
    await page.getByRole("heading", { level: 1 }).waitFor();
    expect(await page.content()).not.toContain(key);

    // What came of it: another client needs the key, the rig is there with its price, and Home Assistant sees it.
    expect((await fetch(`${url}/api/miners`)).status).toBe(401);
    const miners = await (await fetch(`${url}/api/miners`, { headers: { "x-api-key": key } })).text();
    expect(miners).toContain(farm.rigs[0]?.address.replace("http://", "") ?? "the rig");
    expect(miners).toContain('"currency":"EUR"');
    const seen = await subscribeAt(broker.url, ["homeassistant/#"], { username: "rigs", password: "the-right-word" });
    await seen.until(({ topic, payload }) => topic.startsWith("homeassistant/") && payload !== "");
    await seen.close();
    expect(service.said()).not.toContain(key);
    await close();
  });
});
