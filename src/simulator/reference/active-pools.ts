import type { Pool, RigModel } from "../model.ts";
import type { PoolDefinition } from "./definitions.ts";

/** A pool on a miner. */
export interface ActivePool {
  /** Active ID: unique on this miner, never reused. */
  readonly id: number;
  /** From the definition when it was added. */
  readonly name: string;
  readonly coinShortName: string;
  readonly pool: Pool;
}

/** s between two shares at full speed. */
const shareSeconds = 8;

/** The pools of one miner, in the order of their priority; the model hashes for them. */
export class ActivePools {
  readonly #model: RigModel;
  #list: readonly ActivePool[] = [];
  #lastId = 0;

  constructor(model: RigModel) {
    this.#model = model;
  }

  get list(): readonly ActivePool[] {
    return this.#list;
  }

  find({ url }: PoolDefinition): ActivePool | undefined {
    return this.#list.find(({ pool }) => pool.url === url);
  }

  /** The pool of this definition, or a new one for `arrange`. */
  of(definition: PoolDefinition, minerName: string): ActivePool {
    return this.find(definition) ?? this.#made(definition, minerName);
  }

  /** Exactly these, the first with the highest priority. */
  arrange(pools: readonly ActivePool[]): void {
    this.#model.change(() => {
      pools.forEach(({ pool }, priority) => {
        pool.priority = priority;
      });
    });
    this.#list = [...pools];
    this.#model.setPools(pools.map(({ pool }) => pool));
  }

  enable(pools: readonly ActivePool[], enabled: boolean): void {
    this.#model.change(() => {
      for (const { pool } of pools) pool.enabled = enabled;
    });
  }

  #made(definition: PoolDefinition, minerName: string): ActivePool {
    const { hashrate, hashesPerDifficulty } = this.#model.hardware;
    const { workerName, walletAddress } = definition;
    this.#lastId += 1;
    return {
      id: this.#lastId,
      name: definition.description,
      coinShortName: definition.coinShortName,
      pool: {
        url: definition.url,
        user: workerName === "" ? `${walletAddress || "farm"}.${minerName}` : workerName,
        password: definition.plainWorkerPassword,
        difficulty: 2 ** Math.max(0, Math.round(Math.log2((hashrate * shareSeconds) / hashesPerDifficulty))),
        enabled: true,
        alive: true,
        priority: 0,
        quota: 1,
        hashes: 0,
        lastShareAt: null,
      },
    };
  }
}
