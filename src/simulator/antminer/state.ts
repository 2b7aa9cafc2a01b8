import type { RigBody } from "../rig.ts";
import type { AntminerModel, AntminerModelName } from "./models.ts";

export interface AntminerOptions {
  readonly model: AntminerModelName;
  /** Password of the user root. */
  readonly password: string;
  /** The interfaces that answer; other ports are closed. */
  readonly speaks: "both" | "rpc" | "web";
  /** Accepts the mode only as text and ignores a number, like some S19j. */
  readonly modeAsText: boolean;
  /** Seconds until a challenge of the login expires. */
  readonly nonceSeconds: number;
}

/** The settings that survive a restart; the pools are in the model. */
export interface AntminerConfig {
  /** 0 normal, 1 sleep, 3 low. */
  readonly mode: number;
  /** %; null: automatic. */
  readonly fan: number | null;
}

/** The state of every rig with such pages. */
export interface CgiRig {
  readonly body: RigBody;
  config: AntminerConfig;
  blinks: boolean;
  /** Epoch ms until which the mining program restarts; the web interface keeps answering. */
  silentUntil: number;
}

/** The state of an Antminer. */
export interface AntminerRig extends CgiRig {
  readonly kind: AntminerModel;
  readonly options: AntminerOptions;
}

/** Whether the mining program is restarting. */
export const isSilent = ({ body, silentUntil }: CgiRig): boolean => body.model.at < silentUntil;

/** Share of the rated power in each mode. */
const levels: Readonly<Record<number, number>> = { 0: 1, 3: 0.7 };

/** Advances the model, with mining and speed according to the configuration. */
export function settled<Rig extends CgiRig>(rig: Rig): Rig {
  const { model } = rig.body;
  model.advance();
  const { mode, fan } = rig.config;
  const mining = mode !== 1 && !isSilent(rig);
  if (model.mining !== mining) {
    model.change(() => {
      model.mining = mining;
    });
  }
  const level = levels[mode] ?? 1;
  const setting = fan === null ? null : fan / 100;
  if (model.level !== level || model.fanSetting !== setting) {
    model.change(() => {
      model.level = level;
      model.fanSetting = setting;
    });
  }
  return rig;
}

/** Restarts the mining program, with its counters at zero. */
export function restartProgram(rig: CgiRig): void {
  rig.body.model.restart(0);
  rig.silentUntil = rig.body.model.at + rig.body.restartSeconds * 1000;
  settled(rig);
}
