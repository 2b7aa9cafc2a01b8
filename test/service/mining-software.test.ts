import { afterEach, describe, expect, test } from "@jest/globals";
import { miningPrograms } from "../../src/catalogue/mining-software.ts";
import { drivers } from "../../src/link/drivers/index.ts";
import { specimens } from "../docs/specimens.ts";
import { refusal } from "../errors.ts";
import { caller, closeBenches, openBench } from "./bench.ts";

afterEach(closeBenches);

test("the catalogue of mining software says how each program is started and what it mines", async () => {
  const { service } = await openBench();
  const list = await service.listMiningSoftware({}, caller);
  expect(list.map(({ id }) => id).filter((id) => id !== "CustomMiner")).toEqual(miningPrograms.map(({ id }) => id));
  expect(list.find(({ id }) => id === "RigelMiner")).toMatchObject({
    name: "Rigel",
    api: "rigel",
    devices: ["nvidia"],
    platforms: ["linux", "windows"],
    version: "1.23.2",
    algorithms: expect.arrayContaining(["kawpow", "octopus"]),
    dualAlgorithms: { etchash: ["blake3-alephium", "sha512256d"] },
    command: expect.arrayContaining(["--api-bind", "127.0.0.1:{apiPort}", "-a", "{algorithm}"]),
    watchdogOff: ["--no-tui", "--no-watchdog", "--no-colour"],
    tuning: { powerLimit: "--pl", fan: "--fan-control" },
    downloads: expect.arrayContaining([expect.stringMatching(/^https:\/\/github\.com\/rigelminer\/.*linux\.tar\.gz$/)]),
  });
  expect(list.find(({ id }) => id === "CustomMiner")).toMatchObject({ name: "Custom mining software", algorithms: [] });
});

test("the catalogue of algorithms has those of every program, and those that the file declares", async () => {
  const own = { id: "my-hash", name: "My hash", hashesPerDifficulty: 1 };
  const { service } = await openBench({ config: { algorithms: [own] } });
  const ids = (await service.listAlgorithms({}, caller)).map(({ id }) => id);
  expect(ids).toContain("my-hash");
  const mined = miningPrograms.flatMap(({ algorithms }) => Object.keys(algorithms));
  expect(mined.filter((id) => !ids.includes(id))).toEqual([]);
});

test("the API of every program has a driver", () => {
  const ids: string[] = drivers.map(({ id }) => id);
  expect(miningPrograms.flatMap(({ api }) => (api === null || ids.includes(api) ? [] : [api]))).toEqual([]);
});

test("every miner's software is one of the catalogue, or its driver", async () => {
  const { add, farm, get, service } = await openBench({ rigs: specimens.map(({ spec }) => spec) });
  const listed = new Set((await service.listMiningSoftware({}, caller)).map(({ id }) => id));
  const ids = new Set(drivers.map(({ id }) => id));
  const seen: string[] = [];
  for (const [index, { driver, credentials = {} }] of specimens.entries()) {
    const { softwareType } = await get(await add(farm.rigs[index]?.address ?? "", { driver, ...credentials }));
    seen.push(softwareType);
  }
  expect(seen.filter((software) => !listed.has(software) && !ids.has(software))).toEqual([]);
  expect(seen).toContain("XmrigMiner");
  expect(seen).toContain("axeos");
});

describe("a template", () => {
  const template = { id: 0, name: "Night" };

  test("keeps what it sets of managed miners, and leaves what it does not name", async () => {
    const { service } = await openBench();
    const set = {
      softwareType: "LolMiner",
      algorithm: "etchash",
      dualAlgorithm: "kheavyhash",
      commandLineParams: "--cclk 1200",
    };
    const saved = await service.saveManagedTemplate({ ...template, ...set }, caller);
    expect(saved).toEqual({ id: 1, name: "Night", do: null, ...set });
    const changed = await service.saveManagedTemplate({ id: 1, name: "Day", commandLineParams: null }, caller);
    expect(changed).toEqual({ ...saved, name: "Day", commandLineParams: null });
    const { managedTemplateList } = await service.listManagedTemplates({}, caller);
    expect(managedTemplateList).toEqual([changed]);
  });

  test.each([
    [{ softwareType: "Unknown" }, "input.invalid softwareType"],
    [{ algorithm: "no-such-hash", dualAlgorithm: "neither" }, "input.invalid algorithm dualAlgorithm"],
    [{ softwareType: "XmrigMiner", algorithm: "scrypt" }, "input.invalid algorithm"],
    [{ softwareType: "LolMiner", algorithm: "etchash", dualAlgorithm: "randomx" }, "input.invalid dualAlgorithm"],
    [
      { softwareType: "XmrigMiner", commandLineParams: "--http-port 1 -c /etc/x" },
      "input.invalid commandLineParams commandLineParams",
    ],
    [{ softwareType: "XmrigMiner", commandLineParams: "-t '4" }, "input.invalid commandLineParams"],
  ])("is refused with %j, and nothing is stored", async (fields, mistakes) => {
    const { service } = await openBench();
    expect(await refusal(service.saveManagedTemplate({ ...template, ...fields }, caller))).toBe(mistakes);
    expect((await service.listManagedTemplates({}, caller)).managedTemplateList).toEqual([]);
  });

  test("of the file has the same fields", async () => {
    const set = { softwareType: "XmrigMiner", algorithm: "randomx", commandLineParams: "-t 4" };
    const { service } = await openBench({ config: { templates: [{ name: "Night", ...set }] } });
    expect((await service.listManagedTemplates({}, caller)).managedTemplateList).toMatchObject([
      { name: "Night", do: null, ...set, dualAlgorithm: null },
    ]);
  });
});
