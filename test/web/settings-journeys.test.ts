import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect } from "@jest/globals";
import { z } from "zod";
import { type Farm, startFarm } from "../../src/simulator/index.ts";
import { closeContexts, testInBrowser } from "../chromium.ts";
import { type Running, running } from "../cli/command.ts";
import { type Mosquitto, startMosquitto, subscribeAt } from "../mqtt/mosquitto.ts";
import { ownHost } from "../own-host.ts";
import { until } from "../until.ts";
import { axe, overflow, visitOf } from "./dashboard.ts";

// depends on: src/**, mosquitto

const Id = z.object({ id: z.number() });
const ready = /is ready at (http:\/\/127\.0\.0\.1:\d+)/;
/** What a browser notes of a save that the service refuses. */
const expected = /Failed to load resource: the server responded with a status of 400/;

/** One service in a process of its own, from nothing but a rig; no journey restarts it. */
describe("by somebody with a phone and no file", () => {
  let folder: string;
  let farm: Farm;
  let broker: Mosquitto;
  let service: Running;
  let url: string;
  const post = async (path: string, body: object): Promise<{ id: number }> => {
    const headers = { "content-type": "application/json" };
    const answer = await fetch(`${url}/api/${path}`, { method: "POST", headers, body: JSON.stringify(body) });
    expect(answer.status).toBe(201);
    return Id.parse(await answer.json());
  };
  beforeAll(async () => {
    folder = await mkdtemp(join(tmpdir(), "rigbridge-journeys-"));
    farm = await startFarm({ rigs: [{ kind: "axeos", warm: true, host: ownHost() }] });
    broker = await startMosquitto();
    service = await running(["serve", "--data", folder, "--port", "0"], ready, { cwd: folder });
    const [rig] = farm.rigs;
    url = ready.exec(service.said())?.[1] ?? "";
    const { id: groupId } = await post("groups", { name: "Bath", parentId: 0 });
    await post("miners", { name: "Heater", address: rig?.address, group: groupId });
  });
  afterAll(async () => {
    service?.signal("SIGKILL");
    await service?.ended;
    await broker?.stop();
    await farm?.close();
    await rm(folder, { recursive: true });
    await closeContexts();
  });

  testInBrowser("a tariff by the hour shows on the page Money at once, and is undone", async () => {
    const { page, close } = await visitOf(url, "settings", { width: 375, expected });
    const save = page.getByRole("button", { name: "Save", exact: true });
    await page.getByRole("link", { name: "Service" }).click();
    await page.getByRole("link", { name: /Change.*Price of electricity/ }).click();
    const price = page.getByRole("textbox", { name: "Price per kWh" });
    await price.first().fill("-1");
    await page.getByText("Add…").click();
    await page.getByRole("button", { name: /^Prices by the hour/ }).click();
    await page.getByRole("textbox", { name: "From" }).fill("25:00");
    await page.getByRole("textbox", { name: "To", exact: true }).fill("6");
    await price.nth(1).fill("0.10");
    await save.click();
    // Every mistake at once, each beside its field.
    await page.getByRole("alert").filter({ hasText: "This was not saved" }).getByRole("listitem").nth(2).waitFor();
    expect(await page.locator("[aria-invalid=true]").count()).toBe(3);
    expect(await axe(page)).toEqual([]);
    await price.first().fill("0.40");
    await page.getByRole("textbox", { name: "From" }).fill("22:00");
    await page.getByRole("textbox", { name: "To", exact: true }).fill("06:00");
    await save.click();
    await page.getByRole("button", { name: "Undo the last save" }).waitFor();
    expect(await overflow(page)).toBe(0);

    await page.goto(`${url}/money`);
    await page.getByText("Cheapest ahead").waitFor();
    await page.locator(".chart").first().waitFor();
    await page.getByText("$0.10/kWh").first().waitFor();

    await page.goto(`${url}/settings/service/electricity`);
    await page.getByRole("button", { name: "Undo the last save" }).click();
    const prices = async () => (await fetch(`${url}/api/prices`)).text();
    await until(async () => (await prices()).includes('"now":null'), "the former tariff");
    await close();
  });

  testInBrowser("heating: the thermometer is chosen among the broker's topics, and the rig heats", async () => {
    // Its first start need not wait for the usual rest of a rig.
    const limits = await fetch(`${url}/api/settings/power`, {
      method: "PUT",
      headers: { "content-type": "application/json" },
      body: JSON.stringify({ value: { minOn: 0, minOff: 0 } }),
    });
    expect(limits.status).toBe(200);
    const device = await subscribeAt(broker.url, ["none"]);
    await device.publish("bath/climate", '{"temperature":17.5,"battery":80}', { retain: true });
    await device.publish("bath/name", "Bath", { retain: true });
    const { page, close } = await visitOf(url, "settings/service/mqtt", { width: 375, expected });
    const save = page.getByRole("button", { name: "Save", exact: true });
    await page.getByRole("textbox", { name: "Address" }).fill(broker.url);
    await save.click();
    await page.getByText("MQTT: connected").waitFor();

    await page.goto(`${url}/settings/service/heating`);
    await page.getByRole("button", { name: "Add one" }).click();
    await page.getByLabel("Name", { exact: true }).fill("Bath");
    await page.getByRole("combobox", { name: "Group of rigs", exact: true }).fill("Bath");
    await page.getByLabel("Target").fill("21");
    const topic = page.locator("[data-path$=topic] input");
    const offered = (field: typeof topic) =>
      field.evaluate((input) => [...((input as HTMLInputElement).list?.options ?? [])].map(({ value }) => value));
    await until(async () => (await offered(topic)).length > 0, "the broker's topics");
    expect(await offered(topic)).toEqual(["bath/climate"]);
    await topic.fill("bath/climate");
    await page.getByText("Add…").first().click();
    await page.getByRole("button", { name: /^Path in JSON/ }).click();
    const path = page.locator("[data-path$=path] input");
    expect(await offered(path)).toEqual(["temperature", "battery"]);
    await path.fill("temperature");
    await page.getByRole("button", { name: "Test" }).click();
    await page.getByText("Bath: 17.5 °C").waitFor();
    expect(await axe(page)).toEqual([]);
    expect(await overflow(page)).toBe(0);
    await save.click();
    await page.getByRole("button", { name: "Undo the last save" }).waitFor();

    await page.getByRole("link", { name: "Overview" }).first().click();
    const room = page.getByRole("region", { name: "Bath" });
    await room.getByText("17.5").first().waitFor();
    await device.publish("bath/climate", '{"temperature":25,"battery":80}', { retain: true });
    await until(() => farm.rigs[0]?.model.mining === false, "the rig to rest in a warm room");
    await device.publish("bath/climate", '{"temperature":17.5,"battery":80}', { retain: true });
    await until(() => farm.rigs[0]?.model.mining === true, "the rig to heat");
    await device.close();
    await close();
  });
});
