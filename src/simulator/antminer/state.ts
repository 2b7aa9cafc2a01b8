import type { RigBody } from "../rig.ts";
import type { AntminerModel, AntminerModelName } from "./models.ts";

export interface AntminerOptions {
  readonly model: AntminerModelName;
  /** Of the user root. */
  readonly password: string;
  /** What answers; the other port is closed. */
  readonly speaks: "both" | "rpc" | "web";
  /** Takes the mode only as text, and passes over a number, as some S19j do. */
  readonly modeAsText: boolean;
  /** Seconds for which a login's challenge is good. */
  readonly nonceSeconds: number;
}

/** What is kept over a restart; the pools stand in the model. */
export interface AntminerConfig {
  /** 0 normal, 1 sleep, 3 low. */
  readonly mode: number;
  /** %, null lets the rig decide. */
  readonly fan: number | null;
}

/** An Antminer as its own firmware sees it. */
export interface AntminerRig {
  readonly body: RigBody;
  readonly kind: AntminerModel;
  readonly options: AntminerOptions;
  config: AntminerConfig;
  blinks: boolean;
  /** Epoch ms until which the mining program starts anew; the web answers meanwhile. */
  silentUntil: number;
}

/** Whether the mining program is starting anew. */
export const isSilent = ({ body, silentUntil }: AntminerRig): boolean => body.model.at < silentUntil;

/** Share of the rated power in each mode. */
const levels: Readonly<Record<number, number>> = { 0: 1, 3: 0.7 };

/** Carried to the clock's time, with mining and speed as the configuration wants them. */
export function settled(rig: AntminerRig): AntminerRig {
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

/** The mining program starts anew, with its counters at zero. */
export function restartProgram(rig: AntminerRig): void {
  rig.body.model.restart(0);
  rig.silentUntil = rig.body.model.at + rig.body.restartSeconds * 1000;
  settled(rig);
}
