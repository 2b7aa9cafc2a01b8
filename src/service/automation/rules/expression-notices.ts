import { coded } from "../../../messages/coded.ts";
import type { CodedText } from "../../../messages/coded-text.ts";
import { detail } from "../../../messages/detail.ts";
import type { Notices } from "../../notifications/notices.ts";
import type { Stop } from "./expression-meter.ts";
import type { LiveRule } from "./live-rule.ts";
import { saying, type Traces } from "./traces.ts";

/** ms without a stop after which the notification of an expression is closed. */
const quietMs = 3_600_000;

interface Watched {
  /** When it was last stopped or first seen, by the monotonic clock. */
  at: number;
  isRaised: boolean;
  isClosed: boolean;
}

/** Notifies once for each rule that its expression was refused or stopped, and closes the notification afterwards. */
export class ExpressionNotices {
  readonly #notices: Notices;
  readonly #traces: Traces;
  readonly #channelsOf: (makerId: number | null) => readonly string[] | undefined;
  readonly #watched = new Map<LiveRule, Watched>();

  /** `channelsOf`: the channels for notices about this user's rules; undefined: all channels that accept them. */
  constructor(notices: Notices, traces: Traces, channelsOf: (makerId: number | null) => readonly string[] | undefined) {
    this.#notices = notices;
    this.#traces = traces;
    this.#channelsOf = channelsOf;
  }

  /** Checks the rules after a turn, at the start, and when they have changed; `now` in ms of the monotonic clock. */
  look(rules: readonly LiveRule[], now: number): void {
    for (const [rule, watched] of this.#watched) {
      if (rules.includes(rule)) continue;
      this.#watched.delete(rule);
      if (!watched.isClosed) this.#notices.close(keyOf(rule));
    }
    for (const rule of rules) {
      if (rule.settings.enabled === false || (rule.meter === null && !rule.isRefused)) continue;
      const watched = this.#watched.get(rule) ?? { at: now, isRaised: false, isClosed: false };
      this.#watched.set(rule, watched);
      const stop = rule.meter?.takeStop() ?? null;
      if (rule.isRefused) this.#refused(rule, watched);
      else if (stop !== null) this.#stopped(rule, watched, stop, now);
      else if (!watched.isClosed && now - watched.at >= quietMs) {
        // It may be open since before a restart.
        this.#notices.close(
          keyOf(rule),
          coded("notices.rules.within", { name: rule.settings.name ?? rule.settings.key }),
        );
        watched.isClosed = true;
        watched.isRaised = false;
      }
    }
  }

  #refused(rule: LiveRule, watched: Watched): void {
    if (watched.isRaised) return;
    watched.isRaised = true;
    this.#raise(rule, coded("notices.rules.ruleOff", { key: rule.settings.key, why: String(rule.problem) }));
  }

  #stopped(rule: LiveRule, watched: Watched, { minerId, why }: Stop, now: number): void {
    watched.at = now;
    if (watched.isRaised) return;
    watched.isRaised = true;
    watched.isClosed = false;
    this.#traces.add("rule", rule.id, minerId, {
      outcome: "unknown",
      ...saying(detail("trace.stopped", { why })),
      conditions: rule.settings.when?.where === undefined ? [] : [whereUnknown(rule.settings.when.where, why)],
    });
    this.#raise(rule, coded("notices.rules.stopped", { key: rule.settings.key, why }));
  }

  #raise(rule: LiveRule, message: CodedText): void {
    const { key, name = key } = rule.settings;
    this.#notices.raise({
      key: keyOf(rule),
      minerId: null,
      title: name,
      source: "Rules",
      message,
      severity: "warning",
      channels: this.#channelsOf(rule.makerId),
    });
  }
}

const whereUnknown = (condition: string, why: string) => ({ condition, value: why, holds: null });

/** Stored, so it never changes. */
const keyOf = ({ id }: LiveRule): string => `rule:${id}:expression`;
