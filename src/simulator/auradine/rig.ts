import type { RigModel } from "../model.ts";
import type { RigBody } from "../rig.ts";

export interface AuradineOptions {
  readonly username: string;
  readonly password: string;
  /** Seconds until a token expires. */
  readonly tokenSeconds: number;
}

export type AuradineMode = "eco" | "normal" | "turbo" | "custom";

/** The state of an Auradine. */
export class AuradineRig {
  readonly body: RigBody;
  readonly model: RigModel;
  mode: AuradineMode = "normal";
  /** W, of the mode "custom". */
  power: number;
  sleeps = false;
  /** Set by a command; null lets the light show the state. */
  ledCode: number | null = null;

  constructor(body: RigBody) {
    this.body = body;
    this.model = body.model;
    this.power = body.model.hardware.power;
  }

  /** 0 to 1, of the rated rate. */
  get level(): number {
    if (this.mode === "custom") return this.model.levelAt(this.power);
    return this.mode === "eco" ? 0.8 : 1;
  }

  /** Code and message of its light. */
  get led(): { readonly code: number; readonly message: string } {
    if (this.model.overheated) return { code: 4, message: "Over temperature" };
    if (this.model.activePool === null) return { code: 5, message: "Pool configuration" };
    return this.ledCode === 3 ? { code: 3, message: "Locate miner" } : { code: 2, message: "Normal" };
  }

  /** Applies what was changed. */
  settle(): void {
    this.model.advance();
    const mining = !this.sleeps;
    if (this.model.mining === mining && this.model.level === this.level) return;
    this.model.change((model) => {
      model.mining = mining;
      model.level = this.level;
    });
  }
}
