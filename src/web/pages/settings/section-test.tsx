import { useState } from "preact/hooks";
import type { SettingsSection, SettingsTest } from "../../../contract/settings.ts";
import { call } from "../../api.ts";
import { ownWords } from "../../details.ts";
import { t } from "../../language.ts";
import { MistakeList } from "../../parts/schema-form/form.tsx";
import { Mark, type Tone } from "../../parts/status.tsx";
import { useSending } from "../../parts/use-form.ts";
import { may } from "../../session.ts";
import { atFields, sectionLabels } from "./section-words.ts";

/** Sections that can be tested (src/service/trials). */
const testable: ReadonlySet<SettingsSection> = new Set([
  ...(["mqtt", "electricity", "market", "heating", "follow", "scan", "history"] as const),
]);

/** A button that tests the values of a form, and its result; null for sections that cannot be tested. */
export function useSectionTest(section: SettingsSection) {
  const [result, setResult] = useState<SettingsTest | null>(null);
  const { busy, mistakes, problem, send } = useSending();
  if (!testable.has(section) || !may("testSettings")) return null;
  const test = (value: unknown) =>
    send(async () => {
      setResult(null);
      const input = { section, ...(value === undefined ? {} : { value }) };
      setResult(await call("testSettings", input).catch(atFields(section)));
    });
  return {
    /** `value`: the section to be saved; undefined: the one in effect. */
    button: (value: unknown) => (
      <button type="button" class="button" disabled={busy} onClick={() => void test(value)}>
        {busy ? t.serviceSettings.testing : t.serviceSettings.test}
      </button>
    ),
    result: (
      <div class="section-test" role="status">
        <MistakeList mistakes={mistakes} words={sectionLabels(section)} />
        {mistakes.length > 0 || problem === null ? null : <p class="field-problem">{problem}</p>}
        {result === null ? null : (
          <>
            <h2>{t.serviceSettings.tested}</h2>
            <ul>
              {result.findings.map(({ ok, message, coded }) => (
                <li key={message}>
                  <Mark tone={toneOf(ok)}>{wordOf(ok)}</Mark> <span dir="auto">{ownWords(message, coded)}</span>
                </li>
              ))}
            </ul>
            <p class="hint">{t.serviceSettings.nothingSaved}</p>
          </>
        )}
      </div>
    ),
  };
}

const toneOf = (ok: boolean | null): Tone => (ok === null ? "off" : ok ? "good" : "bad");
const wordOf = (ok: boolean | null): string =>
  ok === null ? t.serviceSettings.unclear : ok ? t.serviceSettings.works : t.serviceSettings.fails;
