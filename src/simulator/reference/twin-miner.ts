import { RigModel } from "../model.ts";
import { type ActivePool, ActivePools } from "./active-pools.ts";
import type { PoolDefinition } from "./definitions.ts";
import type { MinerKind } from "./kinds.ts";
import { notNow, notThere } from "./refusals.ts";

export type MinerStatus = "Mining" | "Idle" | "Stopped" | "Starting" | "Disconnected" | "Error";

export interface TwinMinerOptions {
  readonly id: number;
  readonly name: string;
  readonly groupId: number;
  readonly kind: MinerKind;
  /** By default that of its kind, as is the algorithm. */
  readonly software?: string;
  readonly algorithm?: string;
  readonly host: string;
  readonly hostname: string;
  /** 12 hex digits, or empty. */
  readonly macAddress: string;
  readonly seed: number;
  readonly pools: readonly PoolDefinition[];
  readonly state: "mining" | "stopped" | "off";
  /** s since it was started or went away. */
  readonly uptime: number;
  /** Epoch ms. */
  readonly clock: () => number;
  /** Called when the miner goes away and when it is back. */
  readonly noticed: (miner: TwinMiner, event: "away" | "back", time: number) => void;
}

/** s from the command to stop until the process has ended. */
const stopSeconds = 2;
const startSeconds = 15;
const rebootSeconds = 30;

/**
 * A miner of the twin: the physical model and the commands of the server. It has no timer; a command takes effect,
 * as of its time, with the next access.
 */
export class TwinMiner {
  readonly id: number;
  name: string;
  readonly groupId: number;
  readonly kind: MinerKind;
  software: string;
  /** Id in the catalogue of algorithms. */
  algorithm: string;
  host: string;
  hostname: string;
  readonly macAddress: string;
  readonly seed: number;
  readonly #options: TwinMinerOptions;
  readonly #model: RigModel;
  #modelTime: number;
  #online: boolean;
  #seenAt: number;
  readonly #pools: ActivePools;
  /** The pending command with its epoch ms; a new one replaces it. */
  #due: { readonly at: number; readonly happen: () => void } | null = null;

  constructor(options: TwinMinerOptions) {
    this.id = options.id;
    this.name = options.name;
    this.groupId = options.groupId;
    this.kind = options.kind;
    this.software = options.software ?? options.kind.software;
    this.algorithm = options.algorithm ?? options.kind.algorithm;
    this.host = options.host;
    this.hostname = options.hostname;
    this.macAddress = options.macAddress;
    this.seed = options.seed;
    this.#options = options;
    const now = options.clock();
    this.#modelTime = now - options.uptime * 1000;
    this.#model = new RigModel({
      hardware: options.kind.hardware,
      pools: [],
      now: () => this.#modelTime,
      seed: options.seed,
      warm: false,
    });
    this.#pools = new ActivePools(this.#model);
    this.#online = options.state !== "off";
    this.#seenAt = this.#modelTime;
    this.setPools(options.pools);
    this.#model.change((model) => {
      model.mining = options.state === "mining";
    });
    this.settle();
  }

  /** The physics, up to date. */
  get model(): RigModel {
    this.settle();
    return this.#model;
  }

  get status(): MinerStatus {
    this.settle();
    if (!this.#online) return "Disconnected";
    if (!this.#model.mining) return "Stopped";
    if (this.#model.starting) return "Starting";
    if (this.#model.overheated) return "Error";
    return this.#model.hashing ? "Mining" : "Idle";
  }

  get online(): boolean {
    this.settle();
    return this.#online;
  }

  /** Epoch ms of the last contact. */
  get seenAt(): number {
    this.settle();
    return this.#seenAt;
  }

  /** In the order of priority. */
  get pools(): readonly ActivePool[] {
    return this.#pools.list;
  }

  get activePool(): ActivePool | undefined {
    const { activePool } = this.model;
    return this.pools.find(({ pool }) => pool === activePool);
  }

  /** Brings everything up to date. */
  settle(): void {
    const now = this.#options.clock();
    if (this.#due !== null && this.#due.at <= now) {
      const { at, happen } = this.#due;
      this.#due = null;
      this.#modelTime = at;
      happen();
    }
    this.#modelTime = now;
    this.#model.advance();
    if (this.#online) this.#seenAt = now;
  }

  /** Powers it off. */
  switchOff(): void {
    this.settle();
    this.#due = null;
    if (this.#online) this.#goAway();
  }

  switchOn(): void {
    this.settle();
    this.#due = null;
    if (!this.#online) this.#comeBack();
  }

  stop(): void {
    this.#expect(this.canStop, "cannot be stopped");
    this.#after(stopSeconds, () => {
      this.#model.change((model) => {
        model.mining = false;
      });
    });
  }

  start(): void {
    this.#expect(this.canStart, "cannot be started");
    this.#due = null;
    this.#model.restart(startSeconds);
  }

  restart(): void {
    this.#expect(this.canRestart, "cannot be restarted");
    this.#due = null;
    this.#model.restart(startSeconds);
  }

  reboot(): void {
    this.#expect(this.canReboot, "cannot be rebooted");
    this.#goAway();
    this.#after(rebootSeconds, () => this.#comeBack());
  }

  get canStop(): boolean {
    return this.online && this.#model.mining;
  }

  get canStart(): boolean {
    return this.status === "Stopped";
  }

  get canRestart(): boolean {
    return this.canStop;
  }

  get canReboot(): boolean {
    return this.online && this.kind.canReboot;
  }

  /** Part of its rated frequency. */
  throttle(share: number): void {
    this.#expect(this.online, "cannot be reached");
    this.#model.change((model) => {
      model.frequency = model.hardware.frequency * share;
      model.voltage = model.hardware.voltage * (0.8 + 0.2 * share);
    });
  }

  /** All of them or none. */
  addPools(definitions: readonly PoolDefinition[]): void {
    this.#expect(this.online, "cannot be reached");
    const known = definitions.find((definition) => this.#pools.find(definition) !== undefined);
    this.#expect(known === undefined, `has the pool ${known?.description} already`);
    this.#pools.arrange([...this.pools, ...this.#activeOf(definitions)]);
  }

  /** Puts these first, in this order, adding missing ones. */
  usePools(definitions: readonly PoolDefinition[]): void {
    this.#expect(this.online, "cannot be reached");
    const first = this.#activeOf(definitions);
    this.#pools.arrange([...first, ...this.pools.filter((pool) => !first.includes(pool))]);
    this.#pools.enable(first, true);
  }

  /** Exactly these. */
  setPools(definitions: readonly PoolDefinition[]): void {
    this.#pools.arrange(this.#activeOf(definitions));
  }

  pool(activeId: number): ActivePool {
    const found = this.online ? this.pools.find(({ id }) => id === activeId) : undefined;
    if (found === undefined) throw notThere("pool of the miner", activeId);
    return found;
  }

  canRemove(): boolean {
    return this.online && this.pools.length > 1;
  }

  canDisable({ pool }: ActivePool): boolean {
    return this.canRemove() && pool.enabled;
  }

  canEnable({ pool }: ActivePool): boolean {
    return this.online && !pool.enabled;
  }

  canPrioritize(): boolean {
    return this.canRemove();
  }

  removePool(active: ActivePool): void {
    this.#expect(this.canRemove(), "has no other pool; the last one cannot be removed");
    this.#pools.arrange(this.pools.filter((pool) => pool !== active));
  }

  disablePool(active: ActivePool): void {
    this.#expect(this.canDisable(active), `cannot disable ${active.name}`);
    this.#pools.enable([active], false);
  }

  enablePool(active: ActivePool): void {
    this.#expect(this.canEnable(active), `cannot enable ${active.name}`);
    this.#pools.enable([active], true);
  }

  prioritizePool(active: ActivePool): void {
    this.#expect(this.canPrioritize(), "has no other pool");
    this.#pools.arrange([active, ...this.pools.filter((pool) => pool !== active)]);
  }

  #expect(possible: boolean, otherwise: string): void {
    if (!possible) throw notNow(`${this.name} ${otherwise}.`);
  }

  #after(seconds: number, happen: () => void): void {
    this.#due = { at: this.#modelTime + seconds * 1000, happen };
  }

  #goAway(): void {
    this.#online = false;
    this.#model.change((model) => {
      model.mining = false;
    });
    this.#options.noticed(this, "away", this.#modelTime);
  }

  #comeBack(): void {
    this.#online = true;
    this.#model.restart(startSeconds);
    this.#options.noticed(this, "back", this.#modelTime);
  }

  #activeOf(definitions: readonly PoolDefinition[]): ActivePool[] {
    return definitions.map((definition) => this.#pools.of(definition, this.name));
  }
}
