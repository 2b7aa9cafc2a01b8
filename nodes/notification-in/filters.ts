import { createContext, Script } from "node:vm";
import type { Miner, Notification } from "rigbridge";
import type { Farm } from "../shared/farm-connection.ts";
import { fieldFault } from "../shared/faults.ts";
import { type Choice, chosenMiners, groupNamed, shortened, withInner } from "../shared/miner-choice.ts";

export type Filter = (notification: Notification) => boolean;

/** ms that an expression may take for one text; a pattern like `(a+)+$` can take for ever. */
const longest = 100;

/**
 * Whether title or message have this text, or fit this regular expression; without regard to case. Throws a Fault for a
 * text that is no expression, and when called for one that takes too long.
 */
export function textFilter(kind: "contains" | "regex", text: string): Filter {
  if (text === "") return () => true;
  const fits = kind === "regex" ? regexTest(text) : containsTest(text);
  return ({ title, message }) => [title ?? "", message].some(fits);
}

const containsTest = (part: string) => (text: string) => text.toLowerCase().includes(part.toLowerCase());

function regexTest(source: string): (text: string) => boolean {
  const pattern = compiled(source);
  const place: { pattern: RegExp; text: string } = { pattern, text: "" };
  const context = createContext(place);
  const script = new Script("pattern.test(text)");
  return (text) => {
    place.text = text;
    try {
      return script.runInContext(context, { timeout: longest }) === true;
    } catch {
      throw fieldFault("text", "slow-regex", { ms: longest, text: shortened(text) });
    }
  };
}

function compiled(source: string): RegExp {
  try {
    return new RegExp(source, "iu");
  } catch (error) {
    throw fieldFault("text", "regex", { why: error instanceof Error ? error.message : String(error) });
  }
}

/** Whether a notification is about the miners that are meant. Throws a Fault that names the field. */
export function minerFilter(farm: Farm, choice: Choice): Filter {
  if (choice.scope === "all") return () => true;
  const miners = choice.scope === "group" ? inGroup(farm, choice.group) : chosenMiners(farm, choice);
  const ids = new Set(miners.map(({ id }) => id));
  const names = new Set(miners.map(({ name }) => name));
  return ({ minerId, minerName }) => (minerId === null ? names.has(minerName) : ids.has(minerId));
}

/** A group without miners is no mistake here: some may come. */
function inGroup({ miners, groups }: Farm, named: unknown): readonly Miner[] {
  const ids = withInner(groups, groupNamed(groups, named).id);
  return [...miners.values()].filter(({ groupId }) => ids.has(groupId));
}

/** The miner that a notification is about; null where it is about none, or the name that stands for it is of several. */
export function minerOf({ miners }: Pick<Farm, "miners">, { minerId, minerName }: Notification): Miner | null {
  if (minerId !== null) return miners.get(minerId) ?? null;
  const [only, another] = [...miners.values()].filter(({ name }) => name === minerName);
  return another === undefined ? (only ?? null) : null;
}
