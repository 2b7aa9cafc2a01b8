import { useEffect, useRef } from "preact/hooks";
import type { CurtailmentPreview } from "../../../contract/curtailment.ts";
import { counted, duration, money, number, power } from "../../format.ts";
import { t } from "../../language.ts";

/** What a curtailment would change, by the last readings. */
export function Preview({
  power: watts,
  lowered,
  stopped,
  seconds,
  revenueLost,
  currency,
  leftOut,
}: CurtailmentPreview) {
  const element = useRef<HTMLElement>(null);
  // It stands at the end of a long form.
  useEffect(() => element.current?.scrollIntoView({ block: "nearest" }), []);
  const missing = watts.after - watts.target;
  const times = seconds && {
    half: duration(seconds.half),
    most: duration(seconds.most),
    all: duration(seconds.all),
  };
  return (
    <section ref={element} class="curtail-preview" role="status">
      <ul>
        <li>{t.rigs.powerChange({ now: power(watts.now), after: power(watts.after) })}</li>
        {missing > 0 ? (
          <li>
            <span class="status warning">{t.curtailment.missing({ power: power(missing) })}</span>
          </li>
        ) : null}
        <li>{t.curtailment.changes({ lowered: number(lowered), stopped: number(stopped) })}</li>
        {watts.unknown === 0 ? null : <li>{counted(watts.unknown, t.rigs.changeUnknown)}</li>}
        {times === null ? null : <li>{t.rigs.changeTimes(times)}</li>}
        {revenueLost === null ? null : <li>{t.rigs.revenueLost({ amount: money(revenueLost, currency) })}</li>}
        {leftOut.map(({ message, miners }) => (
          <li key={message}>{t.curtailment.leftOut({ rigs: number(miners), why: message })}</li>
        ))}
      </ul>
    </section>
  );
}
