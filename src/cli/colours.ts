import { styleText } from "node:util";
import type { MinerStatus } from "../contract/resources.ts";

export type Colour = "red" | "yellow" | "green" | "gray";

/** A stream for printed text. */
export interface Output {
  readonly isTTY?: boolean;
}

/** Whether texts have colours: only on a terminal, and without NO_COLOR (no-color.org). */
export const isColoured = ({ isTTY = false }: Output, env: NodeJS.ProcessEnv = process.env): boolean =>
  isTTY && (env.NO_COLOR ?? "") === "";

export const inColour = (colour: Colour, text: string): string => styleText(colour, text, { validateStream: false });

export const statusColours: Readonly<Record<MinerStatus, Colour>> = {
  Mining: "green",
  Starting: "yellow",
  Idle: "yellow",
  Stopped: "gray",
  Disabled: "gray",
  Disconnected: "red",
  Error: "red",
};
