import type { TargetedInputEvent } from "preact";
import { useState } from "preact/hooks";
import type { SectionState } from "../../../contract/settings.ts";
import { call } from "../../api.ts";
import { t } from "../../language.ts";
import { Field } from "../../parts/field.tsx";
import { say } from "../../parts/messages.tsx";
import { isObject } from "../../parts/schema-form/schema.ts";
import { useForm } from "../../parts/use-form.ts";
import { link } from "../../route.ts";
import { useSectionTest } from "../settings/section-test.tsx";
import { SaveOrTest, stateOf, Unset } from "./section.tsx";

/** Price sources and their required settings (src/config/money.ts). */
const sources = {
  "energy-charts": { name: "Energy-Charts", fields: ["area"] },
  nordpool: { name: "Nord Pool", fields: ["area"] },
  awattar: { name: "aWATTar", fields: ["area"] },
  entsoe: { name: "ENTSO-E", fields: ["area", "token"] },
  octopus: { name: "Octopus Energy", fields: ["tariff"] },
  tibber: { name: "Tibber", fields: ["token"] },
} as const;
type SourceName = keyof typeof sources;
const isSource = (name: string): name is SourceName => Object.hasOwn(sources, name);

/** The currency, and one price or a source of prices. */
export const PriceStep = () => (
  <Unset section="electricity">
    {(sections, reload) => <PriceForm display={stateOf(sections, "display")} saved={reload} />}
  </Unset>
);

function PriceForm({ display, saved }: { display: SectionState; saved: () => void }) {
  const before = isObject(display.effective) ? String(display.effective.currency) : "";
  const [currency, setCurrency] = useState(before);
  const [how, setHow] = useState<SourceName | "fixed">("fixed");
  const [price, setPrice] = useState("");
  const [texts, setTexts] = useState({ area: "", tariff: "", token: "" });
  const test = useSectionTest("electricity");
  const fields = how === "fixed" ? [] : sources[how].fields;
  const value = () =>
    how === "fixed"
      ? { price: Number(price.replace(",", ".")) }
      : { source: { type: how, ...Object.fromEntries(fields.map((field) => [field, texts[field].trim()])) } };
  const form = useForm(async () => {
    if (currency !== before) {
      const written = isObject(display.value) ? display.value : {};
      await call("saveSettings", { section: "display", value: { ...written, currency: currency.trim() } });
    }
    await call("saveSettings", { section: "electricity", value: value() });
    say(t.start.saved);
    saved();
  });
  return (
    <form class="add-form" onSubmit={form.submit} noValidate>
      <Field label={t.start.currency} problem={form.wrong("display.currency")}>
        {(control) => (
          <input
            {...control}
            list="start-currencies"
            value={currency}
            dir="ltr"
            maxLength={3}
            disabled={display.owner === "file"}
            onInput={({ currentTarget }) => setCurrency(currentTarget.value.toUpperCase())}
          />
        )}
      </Field>
      <datalist id="start-currencies">
        {Intl.supportedValuesOf("currency").map((each) => (
          <option key={each} value={each} />
        ))}
      </datalist>
      <Field label={t.start.how} hint={<a href={link("settings/service/electricity")}>{t.start.byHour}</a>}>
        {(control) => (
          <select
            {...control}
            value={how}
            onChange={({ currentTarget }) => setHow(isSource(currentTarget.value) ? currentTarget.value : "fixed")}
          >
            <option value="fixed">{t.start.fixed}</option>
            {Object.entries(sources).map(([key, { name }]) => (
              <option key={key} value={key}>
                {name}
              </option>
            ))}
          </select>
        )}
      </Field>
      {how === "fixed" ? (
        <Field label={t.start.price} problem={form.wrong("electricity.price")}>
          {(control) => (
            <input
              {...control}
              inputMode="decimal"
              value={price}
              maxLength={20}
              placeholder="0.30"
              onInput={({ currentTarget }) => setPrice(currentTarget.value)}
            />
          )}
        </Field>
      ) : (
        fields.map((field) => (
          <Field
            key={field}
            label={t.start[field]}
            hint={field === "area" ? t.start.areaHint : undefined}
            problem={form.wrong(`electricity.source.${field}`)}
          >
            {(control) => {
              const input = {
                ...control,
                autocomplete: "off",
                dir: "ltr",
                value: texts[field],
                maxLength: 1000,
                onInput: ({ currentTarget }: TargetedInputEvent<HTMLInputElement>) =>
                  setTexts({ ...texts, [field]: currentTarget.value }),
              } as const;
              return field === "token" ? <input {...input} type="password" /> : <input {...input} />;
            }}
          </Field>
        ))
      )}
      <SaveOrTest form={form} test={test} value={value()} />
    </form>
  );
}
