import { afterAll, beforeAll, describe, expect } from "@jest/globals";
import type { Input } from "../../src/contract/service.ts";
import { type Farm, startFarm } from "../../src/simulator/index.ts";
import { closeContexts, testInBrowser } from "../chromium.ts";
import { onTestFinished } from "../finished.ts";
import { ownHost } from "../own-host.ts";
import { AgentDouble, gpu } from "../service/hosts/agent-double.ts";
import { apiAt, noFields, programToken, xmrigRig } from "../service/hosts/hosts-bench.ts";
import { until } from "../until.ts";
import { axe, type Dashboard, overflow, startDashboard } from "./dashboard.ts";

const caller = { actor: "test" };
const hostile = `<img src=x onerror="document.title='run'">${"w".repeat(60)}`;
const sha256 = "a5".repeat(32);

let dashboard: Dashboard;
let programs: Farm;
let agent: AgentDouble;
let switched: number;
let downloaded: number;

beforeAll(async () => {
  dashboard = await startDashboard({
    rigs: [],
    config: {
      display: { currency: "EUR" },
      electricity: { price: 0.1 },
      rates: { btc: 100_000 },
      pools: [
        { name: "monero", url: "stratum+tcp://xmr.example.com:3333", coin: "XMR", wallet: "4Invented" },
        { name: "raptor", url: "stratum+tcp://rtm.example.com:3333", coin: "RTM", wallet: "RInvented" },
      ],
      coins: [
        { shortName: "XMR", name: "Monero", algorithm: "randomx", profit: 1e-3 },
        { shortName: "RTM", name: "Raptoreum", algorithm: "ghostrider", profit: 1e-2 },
      ],
    },
  });
  programs = await startFarm({ rigs: [{ ...xmrigRig, host: ownHost() }] });
  const { service } = dashboard;
  const host = await service.saveHost({ id: 0, hostname: "rig-3", description: "Cellar" }, caller);
  const manage = async (fields: Partial<Input<"saveManagedMiner">>) => {
    const base = { hostId: host.id, softwareType: "XmrigMiner", poolId: 1, algorithm: "randomx" };
    return (await service.saveManagedMiner({ ...noFields, ...base, ...fields }, caller)).id;
  };
  switched = await manage({
    description: "Processor",
    softwareAutoDownload: false,
    softwarePath: "/opt/xmrig",
    switching: {
      mode: "profit",
      hysteresis: 5,
      minimumStay: 1800,
      choices: [
        { algorithm: "randomx", poolId: 1, isPoolGroup: false, softwareType: "" },
        { algorithm: "ghostrider", poolId: 2, isPoolGroup: false, softwareType: "" },
      ],
    },
  });
  downloaded = await manage({ description: "From the internet", softwareAutoDownload: true });
  const { token } = await service.addAgent({ hostId: host.id }, caller);
  agent = await AgentDouble.introduced({
    url: dashboard.url,
    token,
    gpus: [
      gpu(0, 1, { name: hostile, temperature: 61, power: 280, powerLimit: 300, fanPercent: 70 }),
      gpu(1, 2, { name: "Card two", lost: true }),
    ],
    api: (id) => (id === switched ? { ...apiAt(programs.rigs[0]?.address ?? ""), token: programToken } : null),
  });
});

afterAll(async () => {
  agent?.cut();
  await dashboard?.close();
  await programs?.close();
  await closeContexts();
});

describe("hosts", () => {
  testInBrowser("the graphics cards of a host are shown, and what is unknown of them as such", async () => {
    const { page, close } = await dashboard.visit("hosts", { width: 375 });
    await page.getByText("Graphics cards").click();
    const cells = (name: string | RegExp) => page.getByRole("row", { name }).getByRole("cell").allInnerTexts();
    await page.getByRole("row", { name: "Card two" }).getByText("no longer answers").waitFor();
    expect((await cells(/^<img/)).slice(0, 4)).toEqual(["1", "61 °C", "280 W / 300 W", "70%"]);
    expect((await cells("Card two")).slice(1, 5)).toEqual(["–", "–", "–", "–"]);
    expect(await axe(page)).toEqual([]);
    expect(await overflow(page)).toBe(0);
    await close();
  });

  testInBrowser("benchmarks are listed, and forgotten once confirmed", async () => {
    const measured = { model: hostile, software: "XmrigMiner", hashrate: 10_000, at: Date.now() };
    await dashboard.store.benchmarks.add({ ...measured, algorithm: "randomx", power: null });
    await dashboard.store.benchmarks.add({ ...measured, algorithm: "ghostrider", power: 65 });
    const { page, close } = await dashboard.visit("hosts");
    const row = page.getByRole("row", { name: /ghostrider/ });
    await row.getByText("65 W").waitFor();
    expect(
      await page
        .getByRole("row", { name: /randomx/ })
        .getByRole("cell", { name: "–" })
        .count(),
    ).toBe(1);
    expect(await axe(page)).toEqual([]);
    const stored = async () => (await dashboard.service.listBenchmarks({}, caller)).map(({ algorithm }) => algorithm);
    await row.getByRole("button", { name: /^Forget/ }).click();
    await page.getByRole("dialog").getByRole("button", { name: "Cancel" }).click();
    expect(await stored()).toEqual(["randomx", "ghostrider"]);
    await row.getByRole("button", { name: /^Forget/ }).click();
    await page.getByRole("dialog").getByRole("button", { name: "Forget" }).click();
    await row.waitFor({ state: "detached" });
    expect(await stored()).toEqual(["randomx"]);
    await close();
  });
});

describe("a managed miner", () => {
  testInBrowser("shows what it switches among, what each earns, and which of them it mines", async () => {
    const { service, store } = dashboard;
    await service.minerAction({ id: switched, action: "start" }, caller);
    await until(() => agent.states.get(switched)?.status === "running", "the program to run");
    const model = async () => {
      const { cpuList } = await service.pollMiner({ id: switched }, caller);
      return cpuList[0]?.name ?? "";
    };
    await until(async () => (await model()) !== "", "the program to be read");
    const measured = { software: "XmrigMiner", power: 100, at: Date.now(), model: await model() };
    await store.benchmarks.add({ ...measured, algorithm: "randomx", hashrate: 10_000 });
    const { page, close } = await dashboard.visit(`hosts/miners/${switched}`);
    const options = page.getByRole("region", { name: "Switching" });
    const row = (name: RegExp) => options.getByRole("row", { name });
    // The service looks at what a program mines once a second.
    await until(async () => {
      await page.reload();
      await row(/randomx/).waitFor();
      return (
        (await row(/randomx/)
          .getByText("10.0 kH/s")
          .count()) === 1
      );
    }, "the measured rate");
    // 10 kH/s at 0.001 BTC per MH/s and day, less 2.4 kWh.
    expect(
      await row(/randomx/)
        .getByRole("cell")
        .allInnerTexts(),
    ).toEqual([...["10.0 kH/s", "100 W", "€1.00", "€0.24", "€0.76"]]);
    // Which of them it is depends on when the service measures the other.
    expect(await options.getByText("mined now").count()).toBe(1);
    expect(
      await row(/ghostrider/)
        .getByRole("cell")
        .allInnerTexts(),
    ).toEqual(["not measured", "–", "–", "–", "–"]);
    expect(await axe(page)).toEqual([]);
    await page.setViewportSize({ width: 320, height: 800 });
    expect(await overflow(page)).toBe(0);
    await close();
  });

  testInBrowser("runs a download that nobody vouches for only once a person has compared its checksum", async () => {
    const { page, close } = await dashboard.visit(`hosts/miners/${downloaded}`);
    const files = agent.programs.find(({ id }) => id === downloaded)?.files;
    const url = files?.from === "download" ? files.url : "";
    agent.change(downloaded, { status: "confirming", download: { url, bytes: 4_000_000, sha256 } });
    await until(async () => {
      await page.reload();
      await page.getByRole("heading", { name: "From the internet" }).waitFor();
      return (await page.getByRole("heading", { name: "Download", exact: true }).count()) === 1;
    }, "the download on the page");
    await page.getByText(sha256).waitFor();
    await page.getByText(url).waitFor();
    const confirm = page.getByRole("button", { name: "Confirm the download" });
    expect(await confirm.isDisabled()).toBe(true);
    expect(await axe(page)).toEqual([]);
    await page.getByRole("checkbox", { name: /compared/ }).check();
    await confirm.click();
    await until(() => {
      const now = agent.programs.find(({ id }) => id === downloaded)?.files;
      return now?.from === "download" && now.sha256 === sha256;
    }, "the agent to get the confirmed checksum");
    await confirm.waitFor({ state: "detached" });
    await close();
  });
});

describe("the form of a new managed miner", () => {
  testInBrowser("offers only what its host allows, says why the rest is not, and begins with what works", async () => {
    const { service } = dashboard;
    const closed = await service.saveHost({ id: 0, hostname: "closed", description: "Closed" }, caller);
    const { token } = await service.addAgent({ hostId: closed.id }, caller);
    const permissions = { downloads: false, folders: ["/srv/miners"], gpuSettings: false };
    const own = { id: "cellar-miner", name: "Cellar miner", api: null, algorithms: [] };
    const double = await AgentDouble.introduced({ url: dashboard.url, token, permissions, software: [own] });
    onTestFinished(() => double.cut());
    const { page, close } = await dashboard.visit(`hosts/miners/new?host=${closed.id}`);
    const field = (label: string) => page.locator(".miner-fields").getByRole("combobox", { name: label, exact: true });
    const files = field("Where the program comes from");
    const path = page.getByRole("textbox", { name: "Path on the host" });
    const download = () => files.locator("option[value=download]");
    expect(await files.inputValue()).toBe("path");
    expect(await path.inputValue()).toBe("/srv/miners/");
    await page.getByText("Allowed on this host: in /srv/miners").waitFor();
    expect(await download().isDisabled()).toBe(true);
    expect(await download().innerText()).toContain("this host allows no downloads");
    await page.getByText("This host allows no settings of graphics cards.").waitFor();
    // The host's own configuration says where that one is.
    await field("Program").selectOption("cellar-miner");
    await page.getByText("configuration says where this program is").waitFor();
    expect(await files.count()).toBe(0);
    // This host runs Linux.
    const unsuited = (await service.listMiningSoftware({}, caller)).find(
      ({ platforms = [] }) => platforms.length > 0 && !platforms.includes("linux"),
    );
    if (unsuited !== undefined)
      expect(await field("Program").locator(`option[value="${unsuited.id}"]`).isDisabled()).toBe(true);
    // The other host allows downloads, but there is none of every program.
    await field("Host").selectOption("Cellar");
    await field("Program").selectOption("XmrigMiner");
    expect(await files.inputValue()).toBe("download");
    const known = (await service.listHosts({}, caller)).find(({ description }) => description === "Cellar");
    const without = (await service.listMiningSoftware({}, caller)).find(
      ({ id, platforms = [] }) =>
        platforms.includes("linux") && known?.agent?.software?.downloads.includes(id) === false,
    );
    await field("Program").selectOption(without?.id ?? "");
    expect(await files.inputValue()).toBe("path");
    expect(await path.inputValue()).toBe("/opt/");
    expect(await download().innerText()).toContain("no download is known for this host");
    expect(await axe(page)).toEqual([]);
    await close();
  });
});

describe("one managed miner for several hosts", () => {
  testInBrowser("is previewed for each, with the reasons of those that refuse, and set up on the others", async () => {
    const { service } = dashboard;
    const doubles: AgentDouble[] = [];
    onTestFinished(() => {
      for (const each of doubles) each.cut();
    });
    const hostWith = async (name: string, options: Partial<Parameters<typeof AgentDouble.introduced>[0]> | null) => {
      const host = await service.saveHost({ id: 0, hostname: name, description: "" }, caller);
      if (options === null) return host.id;
      const { token } = await service.addAgent({ hostId: host.id }, caller);
      doubles.push(await AgentDouble.introduced({ url: dashboard.url, token, ...options }));
      return host.id;
    };
    const first = await hostWith("hall-1", {});
    const second = await hostWith("hall-2", {});
    const asks = "downloads of programs are not allowed here";
    await hostWith("hall-3", { refuses: () => ({ code: "rig.refused", message: asks }) });
    await hostWith("hall-4", null);
    const base = { ...noFields, softwareType: "XmrigMiner", poolId: 1, algorithm: "randomx", hostId: second };
    const old = await service.saveManagedMiner({ ...base, description: "Old", softwareAutoDownload: true }, caller);
    const { page, close } = await dashboard.visit("hosts", { expected: /404 \(Not Found\)|400 \(Bad Request\)/ });
    await page.getByRole("link", { name: "Set up on several hosts" }).click();
    await page.getByRole("searchbox", { name: "Filter hosts" }).fill("hall-");
    await page.getByRole("checkbox", { name: "All 4 hosts" }).check();
    await page.getByText("4 hosts chosen").waitFor();
    await page.getByRole("textbox", { name: "Names" }).fill("{host} CPU");
    const field = (name: string) => page.locator(".miner-fields").getByRole("combobox", { name, exact: true });
    await field("Program").selectOption("XmrigMiner");
    await field("Algorithm").selectOption("randomx");
    await field("Pool or pool group").selectOption("monero");
    const row = (name: string) => page.getByRole("row", { name });
    await page.getByRole("button", { name: "Preview" }).click();
    await row("hall-2").getByText("already has a miner of this program").waitFor();
    await field("Where a host already has a miner of this program").selectOption("replace");
    await row("hall-2").waitFor({ state: "detached" });
    await page.getByRole("button", { name: "Preview" }).click();
    await row("hall-1").getByText("Would be added").waitFor();
    await row("hall-2").getByText("Settings would be replaced").waitFor();
    await row("hall-3").getByText(asks).waitFor();
    await row("hall-4").getByText("Its host has no agent").waitFor();
    expect(await axe(page)).toEqual([]);
    // The second no longer accepts it: the others are set up all the same.
    await service.deleteManagedMiner({ id: old.id }, caller);
    await page.getByRole("button", { name: "Set up on 2 hosts" }).click();
    await row("hall-2").getByText("Failed").waitFor();
    await row("hall-1").getByText("Added", { exact: true }).waitFor();
    await row("hall-1").getByRole("link", { name: "hall-1 CPU" }).waitFor();
    const made = (await service.listManagedMiners({}, caller)).filter(({ description }) => /^hall-/.test(description));
    expect(made).toMatchObject([{ hostId: first, description: "hall-1 CPU", algorithm: "randomx", running: false }]);
    expect(await axe(page)).toEqual([]);
    await page.setViewportSize({ width: 320, height: 800 });
    expect(await overflow(page)).toBe(0);
    await close();
  });
});
