import type { Room } from "../../../contract/resources.ts";
import * as format from "../../format.ts";
import { t } from "../../language.ts";
import { Age } from "../../parts/status.tsx";

/** The surplus available to the rigs. */
export function Surplus({ room: { available: watts, availableAt, surplus, surplusAt } }: { room: Room }) {
  const at = availableAt ?? surplusAt;
  // The meter is compared with the rigs once they have settled.
  const unknown = surplus === null ? t.family.noSurplus : t.family.measuring;
  return (
    <>
      <span class="big">{format.power(watts === null ? null : Math.max(0, watts))}</span>{" "}
      <small>
        {watts === null ? unknown : watts < 0 ? t.family.nothing({ watts: format.power(-watts) }) : t.family.surplus}
        {at === null ? null : (
          <>
            {" · "}
            <Age time={at} />
          </>
        )}
      </small>
    </>
  );
}

/** The same as a bar: the rigs' share of the surplus, and their draw beyond it. */
export function SurplusBar({ room: { available, power, mining } }: { room: Room }) {
  if (available === null || power === null) return null;
  const watts = mining === 0 ? 0 : power;
  const whole = Math.max(available, watts, 1);
  const share = (part: number) => ({ inlineSize: `${(Math.max(0, part) / whole) * 100}%` });
  return (
    <div class="surplus-bar" aria-hidden="true">
      <span class="from-roof" style={share(Math.min(watts, available))} />
      <span class="beyond" style={share(watts - Math.max(0, available))} />
    </div>
  );
}

/** The meaning of the slider's position. */
export function SurplusLimit({ room: { control, on, lowest } }: { room: Room }) {
  if (control === null || control.value === null || on === false) return null;
  const { value, max, options } = control;
  const meaning = value >= max ? t.family.takesAll : t.family.takesAtMost({ watts: format.power(value) });
  return (
    <p class="hint">
      {meaning} {lowest === null || options !== null ? null : t.family.needs({ watts: format.power(lowest) })}
    </p>
  );
}
