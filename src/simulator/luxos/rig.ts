import type { RigModel } from "../model.ts";
import { mix } from "../random.ts";
import type { RigBody } from "../rig.ts";

export interface LuxosOptions {
  /** Whether reports can be joined with `+`. */
  readonly joins: boolean;
  /** Whether thermal management is on initially. */
  readonly managed: boolean;
}

/** The state of a LuxOS rig. */
export class LuxosRig {
  readonly body: RigBody;
  readonly model: RigModel;
  readonly profiles: readonly LuxosProfile[];
  profile: LuxosProfile;
  asleep = false;
  redLed = "auto";
  atm: { readonly enabled: boolean; readonly highest: string };
  /** °C. */
  temperatures = { hot: 75, dangerous: 80 };
  /** At most one; it expires after a minute without use. */
  session: { readonly id: string; usedAt: number } | null = null;
  #sessions = 0;

  constructor(body: RigBody, managed: boolean) {
    this.body = body;
    this.model = body.model;
    this.profiles = profilesFor(body.model);
    this.profile = this.profiles.find(({ name }) => name === "default") ?? notThere();
    this.atm = { enabled: managed, highest: "default" };
    this.use(this.profile);
  }

  use(profile: LuxosProfile): void {
    this.profile = profile;
    this.model.change((model) => {
      model.level = profile.level;
    });
  }

  logon(): string | null {
    if (this.session !== null && this.model.at - this.session.usedAt < sessionMs) return null;
    this.#sessions += 1;
    const id = mix(this.model.seed, this.#sessions).toString(36).padStart(8, "x");
    this.session = { id, usedAt: this.model.at };
    return id;
  }

  /** Whether this is the current session; its use extends it. */
  knows(session: string | undefined): boolean {
    const { session: own } = this;
    if (own === null || own.id !== session || this.model.at - own.usedAt >= sessionMs) return false;
    own.usedAt = this.model.at;
    return true;
  }
}

const sessionMs = 60_000;

const notThere = (): never => {
  throw new TypeError("there is no default profile");
};

/** A frequency step of LuxOS; the rated frequency is the highest. */
interface LuxosProfile {
  readonly name: string;
  /** Number of the step, relative to the default. */
  readonly step: number;
  /** MHz. */
  readonly frequency: number;
  /** 0 to 1, of the rated rate. */
  readonly level: number;
  /** TH/s. */
  readonly hashrate: number;
  readonly watts: number;
}

const steps = 14;
const overclocked = 2;
const megahertzPerStep = 25;

/** From the weakest to two above the default, as LuxOS generates them. */
function profilesFor(model: RigModel): LuxosProfile[] {
  const rated = model.hardware.frequency / 1e6;
  return Array.from({ length: steps + 1 }, (_, index) => {
    const step = index - (steps - overclocked);
    const frequency = rated - megahertzPerStep * (overclocked - step);
    const level = frequency / rated;
    return {
      name: step === 0 ? "default" : `${frequency}MHz`,
      step,
      frequency,
      level,
      hashrate: (model.hardware.hashrate * level) / 1e12,
      watts: Math.round(model.powerAt(level)),
    };
  });
}
