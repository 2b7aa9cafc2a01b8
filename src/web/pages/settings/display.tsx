import { useState } from "preact/hooks";
import { dateTime } from "../../format.ts";
import { t } from "../../language.ts";
import { DisplayFields } from "../../parts/display-fields.tsx";
import { Icon } from "../../parts/icon.tsx";
import { Card } from "../../parts/page.tsx";
import { sendAndSignOut } from "../../parts/undo.tsx";
import { session } from "../../session.ts";
import { allowShortcuts, shortcuts } from "../../shortcuts.ts";

const prefix = "rigbridge.";

/** The names of the data stored in this browser. */
const storedNames = (): string[] =>
  Object.keys(localStorage)
    .filter((name) => name.startsWith(prefix))
    .sort();

/** Display settings of this browser, its stored data, and signing out. */
export function Display() {
  const who = session.value;
  return (
    <div class="cards settings-cards">
      <Card title={t.settings.tabs.display}>
        <DisplayFields />
        <label class="switch">
          <input
            type="checkbox"
            checked={shortcuts.value}
            aria-describedby="shortcuts-hint"
            onChange={({ currentTarget }) => allowShortcuts(currentTarget.checked)}
          />
          <span>{t.settings.shortcuts}</span>
        </label>
        <p id="shortcuts-hint" class="hint">
          {t.settings.shortcutsHint}
        </p>
        <p class="hint">{t.settings.onlyHere}</p>
        {who === null || who === undefined ? null : (
          <dl class="settings-facts">
            <div>
              <dt>{t.settings.currency}</dt>
              <dd>{who.display.currency ?? t.shell.unknown}</dd>
            </div>
            <div>
              <dt>{t.settings.timeZone}</dt>
              <dd>
                <bdi>{who.display.timeZone ?? t.shell.unknown}</bdi>
              </dd>
            </div>
          </dl>
        )}
        <p class="hint">{t.settings.ofService}</p>
      </Card>
      <Card title={t.settings.session}>
        {who?.by === "session" ? (
          <>
            <p>
              {who.user.name === null
                ? t.settings.asOwner
                : t.settings.asUser({ name: `\u2068${who.user.name}\u2069` })}{" "}
              {who.expiresUtc === null ? null : t.settings.until({ time: dateTime(who.expiresUtc) })}
            </p>
            <button type="button" class="button" onClick={sendAndSignOut}>
              <Icon name="leave" /> {t.shell.signOut}
            </button>
          </>
        ) : (
          <p>{t.settings.noSession}</p>
        )}
      </Card>
      <Stored />
    </div>
  );
}

function Stored() {
  const meanings: Readonly<Record<string, string>> = t.settings.stored;
  const [names, setNames] = useState(storedNames);
  const forget = () => {
    for (const name of names) localStorage.removeItem(name);
    setNames(storedNames());
    // The page still shows data from the storage.
    location.reload();
  };
  return (
    <Card title={t.settings.storedTitle}>
      <p class="hint">{t.settings.storedText}</p>
      {names.length === 0 ? (
        <p>{t.settings.storedNothing}</p>
      ) : (
        <>
          <ul class="stored">
            {names.map((name) => (
              <li key={name}>{meanings[name.slice(prefix.length)] ?? name}</li>
            ))}
          </ul>
          <button type="button" class="button" onClick={forget}>
            <Icon name="trash" /> {t.settings.forget}
          </button>
        </>
      )}
    </Card>
  );
}
