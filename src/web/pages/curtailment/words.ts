import type {
  curtailedStates as CurtailedStates,
  Curtailment,
  CurtailmentTarget,
} from "../../../contract/curtailment.ts";
import type { Scope } from "../../../contract/rules.ts";
import { number, power } from "../../format.ts";
import { t } from "../../language.ts";
import type { Tone } from "../../parts/status.tsx";

export const toneOf: Record<Curtailment["state"], Tone> = {
  curtailing: "busy",
  holding: "good",
  restoring: "busy",
  ended: "off",
};

type RigState = (typeof CurtailedStates)[number];

/** In the order of a rig's way through a curtailment. */
export const rigStates = {
  due: "busy",
  sent: "busy",
  reached: "good",
  failed: "bad",
  away: "warning",
  taken: "warning",
  restoring: "busy",
  restored: "good",
  released: "off",
} as const satisfies Record<RigState, Tone>;

export const rigStateNames = Object.keys(rigStates).filter((each): each is RigState => Object.hasOwn(rigStates, each));

export function targetText({ reduce, limit, share }: CurtailmentTarget): string {
  if (reduce !== undefined) return t.curtailment.reduced({ power: power(reduce) });
  if (limit !== undefined) return t.curtailment.limited({ power: power(limit) });
  return share === undefined ? t.curtailment.kinds.all : t.curtailment.shared({ share: number(share, 1) });
}

/** Names of a scope, those that are left out after a minus sign. */
export function scopeText(scope: Scope | undefined): string {
  const { not = {}, ...only } = scope ?? {};
  const names = [
    ...Object.values(only).flat(),
    ...Object.values(not).flatMap((each) => each?.map((name) => `− ${name}`)),
  ];
  return names.length === 0 ? t.curtailment.allRigs : names.join(", ");
}
