import type { RigModel } from "../model.ts";
import type { RigBody } from "../rig.ts";

export interface GoldshellOptions {
  readonly username: string;
  readonly password: string;
  /** The password as its page sends it; null for older firmware, which takes it only as it is. */
  readonly encrypted: string | null;
  /** Whether its idle plan has a level that is not its place in the list. */
  readonly skipsLevels: boolean;
}

/** The state of a Goldshell. */
export class GoldshellRig {
  readonly body: RigBody;
  readonly model: RigModel;
  /** Levels of its power plans, in the order of the list; the last one idles. */
  readonly levels: readonly number[];
  select = 0;
  manual = false;
  temperatureTarget = 65;
  /** Grows when it no longer accepts its tokens. */
  tokenTurn = 0;

  constructor(body: RigBody, { skipsLevels }: GoldshellOptions) {
    this.body = body;
    this.model = body.model;
    this.levels = skipsLevels ? [0, 3] : [0, 1, 2];
  }

  get idles(): boolean {
    return this.levels[this.select] === this.levels.at(-1);
  }

  /** Applies the selected plan. */
  settle(): void {
    this.model.advance();
    const mining = !this.idles;
    const level = this.select === 1 ? 0.8 : 1;
    if (this.model.mining === mining && this.model.level === level) return;
    this.model.change((model) => {
      model.mining = mining;
      model.level = level;
    });
  }
}
