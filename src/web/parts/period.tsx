import { useCallback, useEffect, useState } from "preact/hooks";
import { t } from "../language.ts";

const hour = 3600;
/** The length of a chart and of one point, in seconds: some 300 points. */
const periods = {
  hour: { seconds: hour, step: 0 },
  day: { seconds: 24 * hour, step: 300 },
  week: { seconds: 7 * 24 * hour, step: 1800 },
  month: { seconds: 30 * 24 * hour, step: 2 * hour },
} as const;
type Period = keyof typeof periods;
const names = Object.keys(periods).filter((name): name is Period => Object.hasOwn(periods, name));

/** ms after which a chart is reloaded. */
const reloadMs = 60_000;

/** A choice of the period of a chart. `turn` changes when its points must be reloaded. */
export function usePeriod(first: Period = "day") {
  const [period, setPeriod] = useState<Period>(first);
  const [turn, setTurn] = useState(0);
  useEffect(() => {
    const timer = setInterval(() => {
      if (document.visibilityState === "visible") setTurn((last) => last + 1);
    }, reloadMs);
    return () => clearInterval(timer);
  }, []);
  const { seconds, step } = periods[period];
  /** Epoch ms. */
  const from = useCallback(() => Date.now() - seconds * 1000, [seconds]);
  const picker = (
    <fieldset class="row choices">
      <legend class="visually-hidden">{t.chart.period}</legend>
      {names.map((name) => (
        <button
          key={name}
          type="button"
          class="button small"
          aria-pressed={name === period}
          onClick={() => setPeriod(name)}
        >
          {t.chart.periods[name]}
        </button>
      ))}
    </fieldset>
  );
  return { picker, from, step, turn: `${period} ${turn}` };
}
