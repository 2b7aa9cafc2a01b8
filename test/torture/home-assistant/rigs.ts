import { readFileSync } from "node:fs";
import { parse } from "yaml";
import { z } from "zod";
import type { Credentials } from "../../../src/link/link.ts";
import { type Farm, farmOf, type RigKind, startFarm } from "../../../src/simulator/index.ts";
import { specimens } from "../../docs/specimens.ts";
import { startFarmProcess } from "../farm-process.ts";

/** What examples/home-assistant/rigbridge.yaml says of its rigs. */
const Example = z.looseObject({ miners: z.array(z.looseObject({ address: z.string() })), mqtt: z.looseObject({}) });
const exampleFile = new URL("../../../examples/home-assistant/rigbridge.yaml", import.meta.url);
/** The rigs of its first lines. */
const exampleMix = { axeos: 1, whatsminer: 1, avalon: 1 };

export interface ExampleFarm {
  readonly farm: Farm;
  /** Powers one rig off, for good. */
  powerOffOne(): void;
  close(): Promise<void>;
}

/** The rigs of the example, one of every family, and one to be powered off. */
export async function startExampleFarm(): Promise<ExampleFarm> {
  const example = farmOf(3, exampleMix, { basePort: 1 }).rigs ?? [];
  const rigs = [...example.map(({ port: _, ...spec }) => spec), ...specimens.map(({ spec }) => spec)];
  const farm = await startFarm({
    rigs: [...rigs.map((spec) => ({ ...spec, warm: true })), { kind: "axeos", warm: true }],
  });
  return { farm, powerOffOne: () => farm.rigs.at(-1)?.powerOff(), close: () => farm.close() };
}

/** The example's configuration with these rigs at this broker; other details make every discovery message another. */
export function exampleConfiguration({ rigs }: Farm, url: string, detail: "usual" | "all" = "usual"): object {
  const example = Example.parse(parse(readFileSync(exampleFile, "utf8")));
  const addressOf = (index: number) => rigs[index]?.address;
  const others = specimens.map(({ credentials }, index) => ({
    address: addressOf(example.miners.length + index),
    name: `Rig ${index + 1}`,
    ...credentials,
  }));
  return {
    ...example,
    miners: [
      ...example.miners.map((miner, index) => ({ ...miner, address: addressOf(index) })),
      ...others,
      { address: addressOf(rigs.length - 1), name: "Attic" },
    ],
    mqtt: { url, homeAssistant: { detail } },
    store: { url: "rigbridge.db" },
  };
}

/** The makers' defaults of the virtual rigs. */
const logins: Partial<Record<RigKind, Credentials>> = Object.fromEntries(
  specimens.flatMap(({ spec, credentials }) => (credentials === undefined ? [] : [[spec.kind, credentials]])).reverse(),
);

const manyKinds = ["axeos", "cgminer", "xmrig", "antminer", "avalon", "whatsminer", "vnish", "luxos"] as const;

/** So many rigs of several kinds in a process of their own, and the configuration of Rigbridge for them. */
export async function startManyRigs(count: number, freePort: () => Promise<number>) {
  const ports: Partial<Record<RigKind, number>> = {};
  for (const kind of manyKinds) ports[kind] = await freePort();
  const mix = Object.fromEntries(manyKinds.map((kind) => [kind, 1]));
  const process = await startFarmProcess(count, mix, ports);
  const miners = process.rigs.map(({ name, kind, address, token }) => ({
    name,
    address,
    ...(token === undefined ? logins[kind] : { token }),
  }));
  return {
    configuration: (url: string): object => ({
      miners,
      mqtt: { url, homeAssistant: { miners: true } },
      store: { url: "rigbridge.db" },
    }),
    close: process.close,
  };
}
