import { expect } from "@jest/globals";
import { pino } from "pino";
import { connectService } from "../../src/client/index.ts";
import { Config } from "../../src/config/index.ts";
import type { Caller, MiningService } from "../../src/contract/service.ts";
import { startHttpServer } from "../../src/http/index.ts";
import { startService } from "../../src/service/index.ts";
import { startFarm, startTwin } from "../../src/simulator/index.ts";
import { openStore } from "../../src/store/index.ts";
import { recordIgnoredKeys } from "../ignored-keys.ts";
import { workers } from "../pollers.ts";

/** A service of one kind with miners that mine; what is built on MiningService has to work with each of them. */
export interface Opened {
  readonly service: MiningService;
  /** A miner that can be stopped, started and restarted. */
  readonly steered: number;
  /** A miner with two pools or more. */
  readonly pooled: number;
  /** May look and tell miners what to do, sees the miners of this group and no others. */
  readonly anna: { readonly groupId: number };
  /** May only look. */
  readonly visitor: { readonly name: string };
  /** Lets time pass until what was ordered has happened. */
  pass(seconds: number): void;
  close(): Promise<void>;
}

export interface ServiceKind {
  readonly name: string;
  /** Offers nothing but the documented operations and events. */
  readonly isReference: boolean;
  open(): Promise<Opened>;
}

export const caller: Caller = { actor: "test" };

/** The API key of the servers among them. */
export const kindsKey = "invented-key-of-the-contract-tests";

/** The service itself, the client of a Rigbridge, and the client of the reference product. */
export const kinds: readonly ServiceKind[] = [
  { name: "the service itself", isReference: false, open: openOwn },
  { name: "the client of a Rigbridge", isReference: false, open: openOwnOverHttp },
  { name: "the client of the reference product", isReference: true, open: openReference },
];

const log = pino({ level: "silent" });

const settings = {
  http: { port: 0, key: kindsKey },
  display: { locale: "sv-SE", currency: "SEK" },
  poll: { interval: 1, workers },
  groups: [{ name: "Hall A" }, { name: "Hall B" }],
  pools: [
    { name: "North", url: "stratum+tcp://north.example.com:3333", worker: "farm", coin: "BTC" },
    { name: "South", url: "stratum+tcp://south.example.com:3333", worker: "farm", coin: "BTC" },
  ],
  templates: [{ name: "Night" }],
  rules: [{ name: "Restart all" }],
  users: [
    { name: "anna", privilege: "control", groups: ["Hall B"] },
    { name: "visitor", privilege: "view" },
  ],
};

async function openOwn(): Promise<Opened & { readonly config: Config }> {
  const farm = await startFarm({
    rigs: [
      { kind: "axeos", warm: true },
      { kind: "cgminer", dialect: "bmminer", warm: true },
      { kind: "cgminer", dialect: "bmminer", warm: true },
    ],
  });
  const store = await openStore({ file: ":memory:", now: Date.now });
  const config = Config.parse({
    ...settings,
    miners: farm.rigs.map(({ address }, index) => ({ address, group: index === 2 ? "Hall B" : "Hall A" })),
  });
  const service = await startService({ config, store, log });
  const { groupList } = await service.listMiners({}, caller);
  for (const { id } of groupList.flatMap(({ minerList }) => minerList)) await service.pollMiner({ id }, caller);
  return {
    config,
    service,
    steered: 1_000_000_001,
    pooled: 1_000_000_002,
    anna: { groupId: groupList.find(({ name }) => name === "Hall B")?.id ?? 0 },
    visitor: { name: "visitor" },
    pass: () => {},
    close: async () => {
      await service.close();
      await store.close();
      await farm.close();
    },
  };
}

async function openOwnOverHttp(): Promise<Opened> {
  const { config, ...own } = await openOwn();
  const server = await startHttpServer({ service: own.service, settings: config.http, log, version: "test" });
  const ignored = recordIgnoredKeys(server.address.port);
  const service = connectService({ url: server.url, key: kindsKey });
  return {
    ...own,
    service,
    close: async () => {
      await service.close();
      await server.close();
      expect(ignored.end()).toEqual([]);
      await own.close();
    },
  };
}

async function openReference(): Promise<Opened> {
  let passed = 0;
  const clock = () => Date.now() + passed;
  const twin = await startTwin({ locale: "sv-SE", currency: "SEK", miners: 12, key: kindsKey, clock });
  const service = connectService({ url: twin.url, key: kindsKey, locale: "sv-SE", name: "Twin", poll: 0.1 });
  return {
    service,
    steered: 1_000_000_001,
    pooled: 1_000_000_002,
    anna: { groupId: 2 },
    visitor: { name: "visitor" },
    pass: (seconds) => {
      passed += seconds * 1000;
    },
    close: async () => {
      await service.close();
      await twin.close();
    },
  };
}
