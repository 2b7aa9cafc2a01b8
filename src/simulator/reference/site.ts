import { fraction, mix } from "../random.ts";
import { algorithmOf, TwinCoins } from "./coins.ts";
import { Definitions, type ManagedMinerDefinition, type PoolDefinition } from "./definitions.ts";
import { displayFor, type TwinDisplay } from "./display.ts";
import { type KindName, kinds } from "./kinds.ts";
import { fewestWithManaged, hosts, initialPools, managedMiners, placeOf, poolGroups, pools } from "./layout.ts";
import { TwinNotifications } from "./notifications.ts";
import { notThere } from "./refusals.ts";
import { TwinMiner, type TwinMinerOptions } from "./twin-miner.ts";
import { seesGroup, type TwinUser } from "./users.ts";

export interface SiteOptions {
  readonly locale: string;
  readonly currency: string;
  readonly timeZone?: string | undefined;
  readonly miners: number;
  readonly seed: number;
  readonly clock: () => number;
}

/** The first id of external miners; those of managed miners begin at 1. */
const firstExternalId = 1_000_000_001;

type Place = Pick<TwinMinerOptions, "groupId" | "state">;

/** The state of the twin. */
export class Site {
  readonly format: TwinDisplay;
  readonly coins: TwinCoins;
  readonly definitions: Definitions;
  readonly notifications = new TwinNotifications();
  readonly clock: () => number;
  readonly #seed: number;
  /** By id. */
  readonly #miners = new Map<number, TwinMiner>();
  #externals = 0;

  constructor({ locale, currency, timeZone, miners, seed, clock }: SiteOptions) {
    this.format = displayFor({ locale, currency, timeZone });
    this.coins = new TwinCoins(currency);
    this.definitions = new Definitions({ pools, poolGroups, hosts }, this.coins);
    this.clock = clock;
    this.#seed = seed;
    const managed = miners < fewestWithManaged ? [] : managedMiners;
    for (let index = 0; index < miners - managed.length; index += 1) {
      const { kind, ...place } = placeOf(index);
      this.addExternal(kind, place);
    }
    for (const { groupId, ...definition } of managed) {
      this.definitions.managedMiners.put(definition);
      this.#addManaged(definition, { groupId, state: "mining" });
    }
    for (const miner of this.miners.filter(({ online }) => !online)) this.#notice(miner, "away", miner.seenAt);
  }

  /** Up to date, managed ones first. */
  get miners(): TwinMiner[] {
    const all = [...this.#miners.values()].sort((one, other) => one.id - other.id);
    for (const miner of all) miner.settle();
    return all;
  }

  /** The miners that a user sees. */
  minersFor(user: TwinUser): TwinMiner[] {
    return this.miners.filter(({ groupId }) => seesGroup(user, groupId));
  }

  miner(id: number, user: TwinUser): TwinMiner {
    const miner = this.#miners.get(id);
    if (miner === undefined || !seesGroup(user, miner.groupId)) throw notThere("miner", id);
    miner.settle();
    return miner;
  }

  /** About every tenth ASIC reports no MAC. */
  addExternal(kindName: KindName, place: Place): TwinMiner {
    const index = this.#externals;
    this.#externals += 1;
    const kind = kinds[kindName];
    const name = `${kindName}-${String(index + 1).padStart(3, "0")}`;
    const host = `10.0.${1 + Math.floor(index / 200)}.${11 + (index % 200)}`;
    const showsMac = kind.deviceType === "ASIC" && index % 10 !== 7;
    const miner = new TwinMiner({
      ...this.#common(index),
      ...place,
      id: firstExternalId + index,
      name,
      kind,
      host,
      hostname: host,
      macAddress: showsMac ? `02${(index + 1).toString(16).padStart(10, "0")}`.toUpperCase() : "",
      pools: initialPools[kindName].flatMap((id) => this.definitions.pools.find(id) ?? []),
    });
    this.#miners.set(miner.id, miner);
    return miner;
  }

  /** Creates or updates a managed miner by its definition. */
  applyManaged(definition: ManagedMinerDefinition): void {
    const miner = this.#miners.get(definition.id);
    if (miner === undefined) this.#addManaged(definition, { groupId: 0, state: "stopped" });
    else {
      const hostname = this.#hostnameOf(definition);
      const { name, software, algorithm } = namesOf(definition);
      miner.name = name;
      miner.software = software;
      miner.algorithm = algorithm;
      miner.host = hostname;
      miner.hostname = hostname;
      miner.setPools(this.#poolsOf(definition));
    }
  }

  removeMiner(id: number): void {
    this.#miners.delete(id);
    if (this.definitions.managedMiners.find(id) !== undefined) this.definitions.managedMiners.remove(id);
  }

  #addManaged(definition: ManagedMinerDefinition, place: Place): void {
    const hostname = this.#hostnameOf(definition);
    this.#miners.set(
      definition.id,
      new TwinMiner({
        ...this.#common(-definition.id),
        ...place,
        ...namesOf(definition),
        id: definition.id,
        kind: runsOnProcessor(definition.algorithm) ? kinds.cpu : kinds.gpu,
        host: hostname,
        hostname,
        macAddress: "",
        pools: this.#poolsOf(definition),
      }),
    );
  }

  #common(index: number): Pick<TwinMinerOptions, "seed" | "uptime" | "clock" | "noticed"> {
    const seed = mix(this.#seed, index + 1_000);
    return {
      seed,
      uptime: Math.round(3600 * (1 + 40 * fraction(seed, 1))),
      clock: this.clock,
      noticed: (miner, event, time) => this.#notice(miner, event, time),
    };
  }

  #hostnameOf({ hostId }: ManagedMinerDefinition): string {
    return this.definitions.hosts.get(hostId).hostname;
  }

  #poolsOf({ isPoolGroup, poolId }: ManagedMinerDefinition): PoolDefinition[] {
    return this.definitions.poolsOf(isPoolGroup ? "group" : "single", poolId);
  }

  #notice({ id, name }: TwinMiner, event: "away" | "back", time: number): void {
    const away = event === "away";
    this.notifications.add({
      minerId: id,
      minerName: name,
      title: away ? "Miner offline" : null,
      time,
      message: away ? `${name} is disconnected` : `${name} is connected again`,
      isWarning: away,
    });
  }
}

const namesOf = ({ id, description, softwareType, algorithm }: ManagedMinerDefinition) => ({
  name: description === "" ? `Managed miner ${id}` : description,
  software: softwareType,
  algorithm: algorithmOf(algorithm)?.id ?? algorithm,
});

const runsOnProcessor = (algorithm: string): boolean =>
  /^(randomx|cryptonight|ghostrider|verushash)/.test(algorithmOf(algorithm)?.id ?? algorithm);
