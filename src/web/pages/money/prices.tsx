import { useMemo } from "preact/hooks";
import type { Market, PriceList } from "../../../contract/resources.ts";
import { call } from "../../api.ts";
import { clockTime, money, weekdayTime } from "../../format.ts";
import { t } from "../../language.ts";
import { Chart, type Series } from "../../parts/chart.tsx";
import { type Known, Loading, useLoaded } from "../../parts/load.tsx";
import { Card, Tile, Tiles } from "../../parts/page.tsx";
import { Age } from "../../parts/status.tsx";
import { may } from "../../session.ts";

const hourMs = 3_600_000;
/** Seconds after which a price or a rate counts as outdated. */
const old = 6 * 3600;

/** The price of a kWh now and in the next hours, and the price of a bitcoin. */
export function Prices() {
  // Both at once: a late answer would push down what the user is reading.
  const loaded = useLoaded(async (signal) => {
    const [prices, market] = await Promise.all([
      call("getPrices", { from: Date.now() - 12 * hourMs, to: Date.now() + 36 * hourMs }, { signal }),
      may("getMarket") ? call("getMarket", {}, { signal }).catch(() => null) : null,
    ]);
    return { prices, rates: market?.rates };
  }, []);
  return (
    <Card title={t.money.price}>
      <div class={loaded.value === undefined ? "prices-place" : undefined}>
        <Loading from={loaded}>{(value, known) => <PricesNow {...value} known={known} />}</Loading>
      </div>
    </Card>
  );
}

interface PricesProps {
  readonly prices: PriceList;
  readonly rates: Market["rates"] | undefined;
  readonly known: Known;
}

function PricesNow({ prices, rates, known }: PricesProps) {
  const { now, currency, source, at, age, problem } = prices;
  const cheap = cheapestAhead(prices);
  return (
    <>
      {problem === null ? null : (
        <p class="banner warning" dir="auto">
          {problem}
        </p>
      )}
      <Tiles>
        <Tile
          name={t.money.now}
          value={now === null ? t.money.noPrice : t.money.perKwh({ amount: money(now, currency) })}
          note={
            now === null ? null : at === null ? (
              (source ?? t.money.configured)
            ) : (
              <>
                <bdi>{source}</bdi>, <Age time={at} />
              </>
            )
          }
          {...(age !== null && age > old ? { tone: "warning" as const } : {})}
        />
        {cheap === null ? null : (
          <Tile
            name={t.money.cheapest}
            value={t.money.perKwh({ amount: money(cheap.value, currency) })}
            note={t.money.fromTo({ from: weekdayTime(cheap.start), to: clockTime(cheap.end) })}
          />
        )}
        {rates === undefined || rates.btc === null ? null : (
          <Tile
            name={t.money.bitcoin}
            value={money(rates.btc, rates.currency)}
            note={
              rates.at === null ? (
                (rates.source ?? t.money.configured)
              ) : (
                <>
                  <bdi>{rates.source}</bdi>, <Age time={rates.at} />
                </>
              )
            }
          />
        )}
      </Tiles>
      {prices.prices.length > 1 ? <PriceChart prices={prices} known={known} /> : null}
    </>
  );
}

/** The cheapest of the coming prices, if they differ. */
function cheapestAhead({ prices }: PriceList): PriceList["prices"][number] | null {
  const ahead = prices.filter(({ end }) => Date.parse(end) > Date.now());
  if (new Set(ahead.map(({ value }) => value)).size < 2) return null;
  return ahead.reduce((best, each) => (each.value < best.value ? each : best));
}

function PriceChart({ prices: { prices, currency }, known }: Omit<PricesProps, "rates">) {
  // Each price has a point at its start and one at its end, so that a gap is a gap.
  const points = useMemo(
    () =>
      prices.flatMap(({ start, end, value }, index) => {
        const gap = prices[index + 1]?.start !== end;
        return [
          { time: Date.parse(start), value },
          ...(gap
            ? [
                { time: Date.parse(end) - 1, value },
                { time: Date.parse(end), value: null },
              ]
            : []),
        ];
      }),
    [prices],
  );
  const times = useMemo(() => points.map(({ time }) => time), [points]);
  const series = useMemo(
    (): Series[] => [
      {
        name: t.money.price,
        values: points.map(({ value }) => value),
        format: (value) => money(value, currency),
        colour: 2,
        shape: "steps",
      },
    ],
    [points, currency],
  );
  return <Chart known={known} title={t.money.curve} times={times} series={series} height={180} present={Date.now()} />;
}
