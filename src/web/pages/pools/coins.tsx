import { useState } from "preact/hooks";
import type { Market } from "../../../contract/resources.ts";
import { call } from "../../api.ts";
import { byName, hashrate, money, number, scaled } from "../../format.ts";
import { t } from "../../language.ts";
import { Confirm } from "../../parts/dialog.tsx";
import { EmptyState, None } from "../../parts/empty-state.tsx";
import { Icon } from "../../parts/icon.tsx";
import { type Known, Loading, useLoaded } from "../../parts/load.tsx";
import { say, sayProblem } from "../../parts/messages.tsx";
import { Card } from "../../parts/page.tsx";
import { Scroll } from "../../parts/scroll.tsx";
import { Age } from "../../parts/status.tsx";
import { usePageQuery } from "../../query.ts";
import { may } from "../../session.ts";
import { CoinForm, type MarketCoin } from "./coin-form.tsx";

/** The known data about coins, with sources and age; custom coins can be added. */
export function Coins() {
  const loaded = useLoaded((signal) => call("getMarket", {}, { signal }), []);
  const query = usePageQuery();
  const [edited, setEdited] = useState<MarketCoin | "new" | null>(null);
  const [removed, setRemoved] = useState<MarketCoin | null>(null);
  const reset = (coin: MarketCoin) => {
    call("saveCoin", { shortName: coin.shortName, reset: true })
      .then(({ message }) => {
        say(message);
        loaded.reload();
      })
      .catch(sayProblem);
  };
  const add = may("saveCoin") ? (
    <button type="button" class="button primary" onClick={() => setEdited("new")}>
      <Icon name="plus" /> {t.pools.addCoin}
    </button>
  ) : null;
  const search = query.get("search");
  return (
    <Loading from={loaded}>
      {(market, known) => {
        const wanted = market.coins
          .filter(({ shortName, name, algorithm }) =>
            `${shortName} ${name} ${algorithm}`.toLowerCase().includes(search.toLowerCase()),
          )
          .sort((one, other) => byName(one.name, other.name));
        return (
          <>
            <Sources market={market} known={known} />
            {market.coins.length === 0 ? (
              <EmptyState known={known} icon="money" title={t.pools.noCoins} text={t.pools.noCoinsText}>
                {add}
              </EmptyState>
            ) : (
              <Card title={t.pools.coins} actions={add}>
                <label class="field coin-search">
                  <span>{t.pools.search}</span>
                  <input
                    type="search"
                    value={search}
                    maxLength={64}
                    onInput={({ currentTarget }) => query.set({ search: currentTarget.value })}
                  />
                </label>
                <CoinTable list={wanted} onEdit={setEdited} onRemove={setRemoved} onReset={reset} />
                {wanted.length === 0 ? <None known={known}>{t.pools.noMatch}</None> : null}
              </Card>
            )}
            {edited === null ? null : (
              <CoinForm
                coin={edited === "new" ? null : edited}
                saved={() => {
                  setEdited(null);
                  loaded.reload();
                }}
                onClose={() => setEdited(null)}
              />
            )}
            {removed === null ? null : (
              <Confirm
                title={t.pools.deleteCoin}
                text={
                  <>
                    <bdi>{removed.name}</bdi>: {t.pools.deleteCoinText}
                  </>
                }
                verb={t.shell.delete}
                dangerous
                onConfirm={async () => {
                  say((await call("deleteCoin", { shortName: removed.shortName })).message);
                  loaded.reload();
                }}
                onClose={() => setRemoved(null)}
              />
            )}
          </>
        );
      }}
    </Loading>
  );
}

/** Exchange rate and sources, with their problems. */
function Sources({ market: { rates, sources }, known }: { market: Market; known: Known }) {
  return (
    <Card title={t.pools.rates}>
      <p>
        {number(1)} BTC = <strong>{money(rates.btc, rates.currency)}</strong>{" "}
        <small>
          <bdi>{rates.source ?? (rates.btc === null ? "" : t.pools.fromFile)}</bdi>{" "}
          {rates.at === null ? null : <Age time={rates.at} />}
        </small>
      </p>
      {sources.length === 0 ? <None known={known}>{t.pools.noSources}</None> : null}
      <ul class="sources">
        {sources.map(({ type, source, at, problem }) => (
          <li key={`${type} ${source}`}>
            <bdi>{source}</bdi> <small>{at === null ? t.pools.neverRead : <Age time={at} />}</small>
            {problem === null ? null : (
              <span class="status bad">
                <Icon name="warning" /> <span dir="auto">{problem}</span>
              </span>
            )}
          </li>
        ))}
      </ul>
    </Card>
  );
}

interface TableProps {
  readonly list: readonly MarketCoin[];
  readonly onEdit: (coin: MarketCoin) => void;
  readonly onRemove: (coin: MarketCoin) => void;
  readonly onReset: (coin: MarketCoin) => void;
}

function CoinTable({ list, onEdit, onRemove, onReset }: TableProps) {
  const maySave = may("saveCoin");
  return (
    <Scroll name={t.pools.coins}>
      <table class="pool-table">
        <thead>
          <tr>
            <th scope="col">{t.pools.coin}</th>
            <th scope="col">{t.pools.profitability}</th>
            <th scope="col">{t.pools.network}</th>
            <th scope="col">{t.pools.price}</th>
            {maySave ? <th scope="col">{t.pools.actions}</th> : null}
          </tr>
        </thead>
        <tbody>
          {list.map((coin) => (
            <tr key={coin.shortName}>
              <th scope="row" class="long">
                <bdi>{coin.name}</bdi> <small class="inline">{coin.shortName}</small>
                <small>
                  <bdi>{coin.algorithm}</bdi>
                </small>
              </th>
              <td data-label={t.pools.profitability}>
                {profitOf(coin)}
                <small>{coin.setBy === null ? "" : t.pools.setBy[coin.setBy]}</small>
                {coin.held === null ? null : (
                  <small class="status warning" dir="auto">
                    {coin.held}
                  </small>
                )}
              </td>
              <td data-label={t.pools.network}>
                {coin.networkHashrate === null ? "–" : hashrate(coin.networkHashrate, coin.algorithm)}
                <small>
                  {coin.difficulty === null ? "" : t.pools.difficulty({ value: scaled(coin.difficulty, "") })}
                  {coin.reward === null ? "" : ` · ${t.pools.reward({ value: number(coin.reward, 8) })}`}
                </small>
                <Origin source={coin.workSource} at={coin.workAt} />
              </td>
              <td data-label={t.pools.price}>
                {coin.priceBtc !== null && coin.shortName !== "BTC"
                  ? `${number(coin.priceBtc, 8)} BTC`
                  : money(coin.priceUsd, "USD")}
                <Origin source={coin.priceSource} at={coin.priceAt} />
              </td>
              {maySave ? (
                <td>
                  <span class="row row-actions">
                    {coin.setBy === "file" ? null : (
                      <button
                        type="button"
                        class="button small"
                        aria-label={`${t.pools.setProfit}: ${coin.name}`}
                        onClick={() => onEdit(coin)}
                      >
                        <Icon name="edit" /> {t.pools.edit}
                      </button>
                    )}
                    {coin.setBy === "hand" && coin.coinClass !== "UserDefined" ? (
                      <button
                        type="button"
                        class="button small"
                        aria-label={`${t.pools.reset}: ${coin.name}`}
                        onClick={() => onReset(coin)}
                      >
                        {t.pools.reset}
                      </button>
                    ) : null}
                    {coin.coinClass === "UserDefined" && may("deleteCoin") ? (
                      <button
                        type="button"
                        class="button small"
                        aria-label={`${t.shell.delete}: ${coin.name}`}
                        onClick={() => onRemove(coin)}
                      >
                        <Icon name="trash" /> {t.shell.delete}
                      </button>
                    ) : null}
                  </span>
                </td>
              ) : null}
            </tr>
          ))}
        </tbody>
      </table>
    </Scroll>
  );
}

const Origin = ({ source, at }: { source: string | null; at: string | null }) =>
  source === null ? null : (
    <small>
      <bdi>{source}</bdi> {at === null ? null : <Age time={at} />}
    </small>
  );

/** Per TH/s: per MH/s it would be all zeros. */
function profitOf({ profit, profitUsd }: MarketCoin): string {
  if (profit !== null) return t.pools.perTerahash({ amount: `${number(profit * 1e6, 10)} BTC` });
  return profitUsd === null ? "–" : t.pools.perTerahash({ amount: money(profitUsd * 1e6, "USD") });
}
