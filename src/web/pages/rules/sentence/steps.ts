import type { stepKinds } from "../../../../contract/steps.ts";
import { number } from "../../../format.ts";
import { t } from "../../../language.ts";
import { isObject, type Json, type Values } from "../../../parts/schema-form/schema.ts";
import { all, amount, blank, lookUp, type NameOf, optionText, plain, time } from "./words.ts";

export type SentenceStep = keyof typeof stepKinds;

/** Every kind of step, in the infinitive, such as "notify alerts"; a kind whose key others also have comes after them. */
const steps: Readonly<Record<SentenceStep, (step: Values, nameOf: NameOf) => string>> = {
  action: actionText,
  set: ({ set, value }) => setText(set, value),
  pool: ({ pool }, nameOf) => t.rules.sentence.pool({ name: named("pool", pool, nameOf) }),
  poolGroup: ({ poolGroup }, nameOf) => t.rules.sentence.poolGroup({ name: named("poolGroup", poolGroup, nameOf) }),
  template: ({ template }, nameOf) => t.rules.sentence.template({ name: named("template", template, nameOf) }),
  notify: ({ notify }, nameOf) =>
    t.rules.sentence.notify({ name: notify === "all" ? t.rules.allChannels : named("channel", notify, nameOf) }),
  webhook: ({ webhook }) => t.rules.sentence.request({ address: hostOf(webhook) }),
  publish: ({ publish }) => t.rules.sentence.publish({ topic: plain(publish) }),
  rule: ({ rule }, nameOf) => t.rules.sentence.rule({ name: named("rule", rule, nameOf) }),
  run: ({ run }) => t.rules.sentence.program({ name: plain(all(run)[0]) }),
  plug: (step) => {
    const { plugOn, plugOff, plugCycle, plugCycleFor } = t.rules.sentence;
    if (step.plug !== "cycle") return step.plug === "on" ? plugOn : plugOff;
    return step.wait === undefined ? plugCycle : plugCycleFor({ time: time(step.wait) });
  },
  curtail: ({ curtail, lasts }) => {
    const words = { name: plain(curtail ?? blank) };
    return lasts === undefined
      ? t.rules.sentence.curtail(words)
      : t.rules.sentence.curtailFor({ ...words, time: time(lasts) });
  },
  endCurtailment: ({ endCurtailment }) => t.rules.sentence.endCurtailment({ name: plain(endCurtailment ?? blank) }),
  wait: ({ wait }) => t.rules.sentence.wait({ time: time(wait) }),
};

const named = (of: Parameters<NameOf>[0], value: Json, nameOf: NameOf, parent: Json = {}): string =>
  value === undefined || value === "" || value === null ? blank : plain(nameOf(of, String(value), parent));

/** The server alone: the rest of an address may be long, or a secret. */
const hostOf = (address: Json): string =>
  plain(typeof address === "string" && URL.canParse(address) ? new URL(address).host : address);

function controlName(key: Json): string {
  const slot = /^board_(\d+)$/.exec(String(key))?.[1];
  if (slot !== undefined) return t.rig.board({ slot: number(Number(slot)) });
  return lookUp(t.rules.words, String(key)) ?? plain(key);
}

/** Units that only controls have. */
const amounts: Readonly<Record<string, string>> = { throttle: "fanPercent" };

function setText(control: Json, value: Json): string {
  const key = String(control);
  if ((key === "reboot" || key === "restart") && value === true) return t.rules.words[key];
  const best = key === "power_target" && value === "best";
  const word = typeof value === "string" ? lookUp(t.rig.words, value) : undefined;
  return t.rules.sentence.set({
    control: controlName(control),
    value: best ? t.rules.sentence.best : (word ?? amount(lookUp(amounts, key) ?? key, value)),
  });
}

/** What is said about an action besides its name, by its parameters. */
const details: Readonly<Record<string, (value: Json, step: Values, nameOf: NameOf) => string>> = {
  pool_id: (value, step, nameOf) => named("poolId", value, nameOf, step),
  watts: (value) => amount("power", numberOf(value)),
  surplus: (value) => amount("power", numberOf(value)),
  temperature: (value) => amount("temperature", numberOf(value)),
  mode: (value) => lookUp(t.rig.words, String(value)) ?? plain(value),
  orReboot: (value) => (value === true ? t.rules.sentence.orReboot : ""),
};

const numberOf = (value: Json): Json => (typeof value === "string" && value.trim() !== "" ? Number(value) : value);

function actionText(step: Values, nameOf: NameOf): string {
  if (step.action === "set") return setText(step.property, step.value);
  if (step.action === "locate")
    return ["false", "off", "0"].includes(String(step.on)) ? t.rules.sentence.locateOff : t.rules.sentence.locateOn;
  const action = optionText("action", String(step.action));
  const more = Object.entries(details).flatMap(([key, text]) => {
    const detail = step[key] === undefined ? "" : text(step[key], step, nameOf);
    return detail === "" ? [] : [detail];
  });
  return more.length === 0 ? action : `${action} (${more.join(", ")})`;
}

const isKind = (key: string): key is SentenceStep => Object.hasOwn(steps, key);
const kinds = Object.keys(steps).filter(isKind);

/** A list of steps, "stop mining, then notify alerts"; a step of a newer service by the key that names it. */
export function stepsText(list: Json, nameOf: NameOf): string {
  const texts = all(list).map((step) => {
    if (!isObject(step)) return plain(step);
    const kind = kinds.find((each) => each in step);
    return kind === undefined
      ? t.rules.sentence.unknownStep({ what: plain(Object.keys(step)[0]) })
      : steps[kind](step, nameOf);
  });
  const [first = t.rules.sentence.nothing, ...others] = texts;
  return others.reduce((before, next) => t.rules.sentence.then({ before, next }), first);
}
