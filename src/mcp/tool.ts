import type { z } from "zod";
import { mistakesOf } from "../contract/decode.ts";
import type { OperationName } from "../contract/operations.ts";
import type { Caller, MiningService } from "../contract/service.ts";
import { worded } from "../contract/wording.ts";
import { Advice } from "./advice.ts";

export interface ToolContext {
  readonly service: MiningService;
  readonly caller: Caller;
  /** Aborted when the client no longer waits. */
  readonly signal: AbortSignal;
  /** Epoch ms. */
  readonly now: () => number;
}

/** A small result, which becomes JSON. Figures have their unit in their name or text; null is unknown. */
export type Small = Readonly<Record<string, unknown>>;

/** What an acting tool is about to do. */
export interface Plan {
  /** Ids of the rigs concerned. */
  readonly rigs: readonly number[];
  /** In words, for the person who is asked. */
  readonly summary: string;
  /** Says what would happen, and does nothing. */
  rehearse(): Promise<Small>;
  act(): Promise<Small>;
}

interface ToolHead<I extends z.ZodObject = z.ZodObject> {
  readonly name: string;
  readonly title: string;
  readonly description: string;
  readonly input: I;
  /** A caller who may not use all of these is not shown the tool. */
  readonly uses: readonly OperationName[];
}

/** Each throws `Advice` with every mistake in the arguments. */
export interface ReadingTool extends ToolHead {
  readonly acts: false;
  read(args: unknown, context: ToolContext): Promise<Small>;
}

export interface ActingTool extends ToolHead {
  readonly acts: true;
  /** Finds the rigs, and does nothing yet. */
  plan(args: unknown, context: ToolContext): Promise<Plan>;
}

export type Tool = ReadingTool | ActingTool;

/** A tool that only reads. */
export const reading = <I extends z.ZodObject>({
  read,
  ...head
}: ToolHead<I> & { read(given: z.output<I>, context: ToolContext): Promise<Small> }): ReadingTool => ({
  ...head,
  acts: false,
  read: async (args, context) => read(checked(head.input, args), context),
});

/** A tool that changes something. */
export const acting = <I extends z.ZodObject>({
  plan,
  ...head
}: ToolHead<I> & { plan(given: z.output<I>, context: ToolContext): Promise<Plan> }): ActingTool => ({
  ...head,
  acts: true,
  plan: async (args, context) => plan(checked(head.input, args), context),
});

function checked<I extends z.ZodObject>(input: I, args: unknown): z.output<I> {
  const result = input.safeParse(args, worded);
  if (result.success) return result.data;
  throw new Advice(mistakesOf(result.error.issues, "arguments", []));
}
