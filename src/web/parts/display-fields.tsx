import { isLanguage, languages } from "../../messages/languages.ts";
import { chooseLanguage, language, t } from "../language.ts";
import { chooseTheme, theme, themes } from "../theme.ts";

/** Language and colours of this browser. */
export const DisplayFields = () => (
  <>
    <label class="field">
      <span>{t.shell.language}</span>
      <select
        value={language}
        onChange={({ currentTarget }) => {
          if (isLanguage(currentTarget.value)) chooseLanguage(currentTarget.value);
        }}
      >
        {Object.entries(languages).map(([code, name]) => (
          <option key={code} value={code} lang={code}>
            {name}
          </option>
        ))}
      </select>
    </label>
    <label class="field">
      <span>{t.shell.theme}</span>
      <select
        value={theme.value}
        onChange={({ currentTarget }) => chooseTheme(themes.find((each) => each === currentTarget.value) ?? "auto")}
      >
        {themes.map((each) => (
          <option key={each} value={each}>
            {t.theme[each]}
          </option>
        ))}
      </select>
    </label>
  </>
);
