import { z } from "zod";
import { mistakesOf } from "../../../contract/decode.ts";
import { invalidAll } from "../../../contract/problems.ts";
import type { HookSignal } from "../../../contract/signal-settings.ts";
import { Key } from "../../../contract/steps.ts";
import { worded } from "../../../contract/wording.ts";
import { type Wish, wishOf } from "./signal.ts";

/** The body of the hook of a signal. */
const HookBody = z
  .strictObject({
    target: z
      .number()
      .min(0)
      .max(1e9)
      .optional()
      .describe("as in the settings: percent or W; absent = that of the plan"),
    until: z.iso
      .datetime({ offset: true, error: "must be a time with its zone, like 2026-05-01T18:00:00Z" })
      .max(40)
      .optional()
      .describe("when it ends in any case; absent = when it is ended"),
    key: Key.optional().describe("the same key means the same curtailment"),
    end: z.boolean().optional().describe("true ends it"),
  })
  .refine(({ end, target, until }) => end !== true || (target === undefined && until === undefined), {
    path: ["end"],
    error: "does not go with target or until",
  });

/** What a request to the hook of a signal asks for. */
export interface HookOrder {
  /** Null: the curtailment without a key; to end: all of this signal. */
  readonly key: string | null;
  readonly wish: Wish;
}

/** The order in the body of a hook; an empty one begins the curtailment as planned. Throws `input.invalid`. */
export function hookOrder(payload: unknown, settings: HookSignal): HookOrder {
  const { target, until: written, key = null, end } = bodyOf(HookBody, payload === "" ? {} : (payload ?? {}));
  if (end === true) return { key, wish: { kind: "run" } };
  const until = written === undefined ? null : Date.parse(written);
  if (target === undefined)
    return { key, wish: { kind: "curtail", id: "plan", target: null, until, urgent: false, text: "" } };
  const wish = wishOf(target, settings);
  return { key, wish: wish.kind === "run" ? wish : { ...wish, until } };
}

/** The body of a hook by its schema. Throws `input.invalid` with each mistake. */
export function bodyOf<T>(schema: z.ZodType<T>, payload: unknown): T {
  const { data, error } = schema.safeParse(payload, worded);
  if (error !== undefined) throw invalidAll(mistakesOf(error.issues, "body", []));
  return data;
}
