import { detail } from "../messages/detail.ts";
import { invalid } from "./problems.ts";

/** The words for on and off that front ends send, in any case. */
const on = ["true", "on", "1"];
const off = ["false", "off", "0"];

/** null for any other word. */
export function switchWord(text: string): boolean | null {
  const word = text.trim().toLowerCase();
  return on.includes(word) ? true : off.includes(word) ? false : null;
}

/** A trigger can only be set to on. Throws `input.invalid` at `path`. */
export function checkTrigger(key: string, text: string, path: string): void {
  if (switchWord(text) !== true) throw invalid(path, detail("control.trigger", { control: key }));
}
