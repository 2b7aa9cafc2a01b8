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

/** The state of a rig in a table. */
export type ListedState = MinerStatus | "Unreachable";

export const stateColours: Readonly<Record<ListedState, Colour>> = {
  Mining: "green",
  Starting: "yellow",
  Idle: "yellow",
  Stopped: "gray",
  Disabled: "gray",
  Disconnected: "red",
  Error: "red",
  Unreachable: "red",
};
