import { useState } from "preact/hooks";
import type { Market } from "../../../contract/resources.ts";
import { call } from "../../api.ts";
import { t } from "../../language.ts";
import { Field } from "../../parts/field.tsx";
import { FormDialog } from "../../parts/form-dialog.tsx";
import { useLoaded } from "../../parts/load.tsx";
import { say } from "../../parts/messages.tsx";
import { typedNumber } from "../../parts/snap.ts";
import { fieldText } from "../../parts/use-form.ts";
import { may } from "../../session.ts";

export type MarketCoin = Market["coins"][number];

interface CoinFormProps {
  readonly coin: MarketCoin | null;
  readonly saved: () => void;
  readonly onClose: () => void;
}

const facts = ["difficulty", "reward", "btc", "usd"] as const;

/** Adds a custom coin, or sets a coin's earnings: as one number, or from the facts of its network. */
export function CoinForm({ coin, saved, onClose }: CoinFormProps) {
  const [byFacts, setByFacts] = useState(false);
  const algorithms = useLoaded(
    async (signal) => (may("listAlgorithms") ? call("listAlgorithms", {}, { signal }) : []),
    [],
  );
  const save = async (form: FormData) => {
    const text = (name: string) => fieldText(form, name);
    // Text that is not a number goes to the service unchanged, and its error names the mistake.
    const figure = (name: string) => (text(name) === "" ? undefined : (typedNumber(text(name)) ?? Number.NaN));
    const worth = byFacts
      ? Object.fromEntries(facts.map((name) => [name, figure(name)]))
      : { profit: text("profit") === "" ? undefined : perMegahash(text("profit")) };
    const about = coin === null ? { name: text("name"), algorithm: text("algorithm") } : {};
    say((await call("saveCoin", { shortName: coin?.shortName ?? text("shortName"), ...about, ...worth })).message);
    saved();
  };
  return (
    <FormDialog
      title={coin === null ? t.pools.addCoin : t.pools.profitOf({ name: coin.name })}
      onSubmit={save}
      onClose={onClose}
    >
      {(wrong) => {
        const field = (name: string, label: string, hint = "", more: Readonly<Record<string, unknown>> = {}) => (
          <Field label={label} hint={hint} problem={wrong(name)}>
            {(control) => (
              <input {...control} name={name} maxLength={100} autocomplete="off" spellcheck={false} {...more} />
            )}
          </Field>
        );
        const number = { inputmode: "decimal" };
        return (
          <>
            {coin === null ? (
              <>
                {field("shortName", t.pools.shortName, t.pools.shortNameHint, { required: true, maxLength: 32 })}
                {field("name", t.pools.name, "", { required: true, dir: "auto" })}
                {field("algorithm", t.pools.algorithm, "", { required: true, maxLength: 64, list: "coin-algorithms" })}
                <datalist id="coin-algorithms">
                  {algorithms.value?.map(({ id, name }) => (
                    <option key={id} value={id}>
                      {name}
                    </option>
                  ))}
                </datalist>
              </>
            ) : null}
            <fieldset class="row plain">
              <legend class="visually-hidden">{t.pools.profitability}</legend>
              <label class="switch">
                <input type="radio" name="by" checked={!byFacts} onChange={() => setByFacts(false)} />{" "}
                {t.pools.byProfit}
              </label>
              <label class="switch">
                <input type="radio" name="by" checked={byFacts} onChange={() => setByFacts(true)} /> {t.pools.byFacts}
              </label>
            </fieldset>
            {byFacts ? (
              <>
                {field("difficulty", t.pools.networkDifficulty, "", number)}
                {field("reward", t.pools.blockReward, "", number)}
                {field("btc", t.pools.priceBtc, t.pools.onePrice, number)}
                {field("usd", t.pools.priceUsd, "", number)}
              </>
            ) : (
              field("profit", t.pools.profit, t.pools.profitHint, number)
            )}
          </>
        );
      }}
    </FormDialog>
  );
}

/** People think in TH/s, the service in MH/s. */
const perMegahash = (text: string): number => (typedNumber(text) ?? Number.NaN) / 1e6;
