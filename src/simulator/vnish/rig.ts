import type { Pool, RigModel } from "../model.ts";
import type { RigBody } from "../rig.ts";

/** 1.2.6 has no throttle and protects its summary; 1.3.4 has a throttle and an open summary. */
export type VnishVersion = "1.2.6" | "1.3.4";

export interface VnishOptions {
  readonly version: VnishVersion;
  readonly password: string;
  /** 32 characters; null: none is stored. */
  readonly apiKey: string | null;
  /** Seconds until a token expires. */
  readonly tokenSeconds: number;
  /** Masks the passwords of pools. */
  readonly hidesPasswords: boolean;
  /** Changes presets automatically. */
  readonly switchesPresets: boolean;
}

export interface VnishPreset {
  readonly name: string;
  /** null for the stock setting. */
  readonly watts: number | null;
  /** H/s. */
  readonly hashrate: number;
  /** 0 to 1, of the rated rate. */
  readonly level: number;
  readonly tuned: boolean;
}

/** The state of a VNish rig. */
export class VnishRig {
  readonly body: RigBody;
  readonly model: RigModel;
  readonly version: VnishVersion;
  readonly hides: boolean;
  readonly switches: boolean;
  readonly presets: readonly VnishPreset[];
  /** The chosen preset; in use from the next start of mining. */
  preset: VnishPreset;
  applied: VnishPreset;
  throttle = 100;
  cooling: { readonly mode: { readonly name: "auto" | "manual"; readonly param: number } };
  /** The stored pools; in use from the next start of mining. */
  storedPools: Pool[];
  blinks = false;
  stopped = false;
  restartRequired = false;
  /** Epoch ms until which mining restarts; the web interface keeps running. */
  #restartsUntil = 0;

  constructor(body: RigBody, { version, hidesPasswords, switchesPresets }: VnishOptions) {
    this.body = body;
    this.model = body.model;
    this.version = version;
    this.hides = hidesPasswords;
    this.switches = switchesPresets;
    this.presets = presetsFor(body.model);
    this.preset = this.presets.find(({ name }) => name === "disabled") ?? stockOf(body.model);
    this.applied = this.preset;
    this.cooling = { mode: { name: "auto", param: Math.round(body.model.temperatureTarget) } };
    this.storedPools = body.model.pools;
  }

  get isNew(): boolean {
    return this.version !== "1.2.6";
  }

  get throttles(): boolean {
    return this.isNew;
  }

  get restarting(): boolean {
    return this.model.at < this.#restartsUntil;
  }

  get state(): string {
    if (this.model.overheated) return "failure";
    if (this.restarting) return "restarting";
    return this.stopped ? "stopped" : "mining";
  }

  /** Applies the stored settings. */
  restartMining(): void {
    this.stopped = false;
    this.restartRequired = false;
    this.throttle = 100;
    this.applied = this.preset;
    this.model.setPools(this.storedPools);
    this.model.restart(0);
    this.model.change((model) => {
      model.mining = false;
    });
    this.#restartsUntil = this.model.at + this.body.restartSeconds * 1000;
    this.settle();
  }

  stop(): void {
    this.stopped = true;
    this.settle();
  }

  setThrottle(percent: number): void {
    this.throttle = percent;
    this.settle();
  }

  switchTo(id: number): boolean {
    const wanted = this.model.pools[id];
    if (wanted === undefined) return false;
    this.model.change(({ pools }) => {
      const others = pools.filter((pool) => pool !== wanted).sort((a, b) => a.priority - b.priority);
      for (const [priority, pool] of [wanted, ...others].entries()) pool.priority = priority;
    });
    return true;
  }

  /** Applies changes that are due. */
  settle(): void {
    this.model.advance();
    const mining = !this.stopped && !this.restarting;
    const level = (this.applied.level * this.throttle) / 100;
    if (this.model.mining === mining && this.model.level === level) return;
    this.model.change((model) => {
      model.mining = mining;
      model.level = level;
    });
  }
}

const presetSteps = 7;

const stockOf = ({ hardware: { hashrate } }: RigModel): VnishPreset => ({
  name: "disabled",
  watts: null,
  hashrate,
  level: 1,
  tuned: false,
});

/** The stock setting, and one every 300 W below it; the strongest was never tuned. */
function presetsFor(model: RigModel): VnishPreset[] {
  const top = Math.floor(model.hardware.power / 100) * 100;
  const made = Array.from({ length: presetSteps }, (_, index): VnishPreset => {
    const watts = top - 300 * (presetSteps - 1 - index);
    const level = model.levelAt(watts);
    const hashrate = model.hardware.hashrate * level;
    return { name: String(watts), watts, level, hashrate, tuned: index < presetSteps - 1 };
  });
  return [stockOf(model), ...made];
}
