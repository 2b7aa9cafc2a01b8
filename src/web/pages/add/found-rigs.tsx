import type { Discovery } from "../../../contract/resources.ts";
import { t } from "../../language.ts";
import { Scroll } from "../../parts/scroll.tsx";
import { type Login, LoginFields, noLogin } from "./details.tsx";

interface FoundRigsProps {
  readonly found: Discovery["found"];
  readonly isChosen: (address: string) => boolean;
  readonly choose: (address: string, wanted: boolean) => void;
  /** By driver: rigs of one make usually share their login. */
  readonly logins: ReadonlyMap<string, Login>;
  readonly setLogin: (driver: string, login: Login) => void;
}

/** The results of a search, and the logins by family of rigs. */
export function FoundRigs({ found, isChosen, choose, logins, setLogin }: FoundRigsProps) {
  const drivers = [...new Set(found.flatMap(({ driver, known }) => (driver === null || known ? [] : [driver])))];
  return (
    <>
      <Scroll name={t.add.foundRigs}>
        <table class="found-rigs">
          <caption class="visually-hidden">{t.add.foundRigs}</caption>
          <thead>
            <tr>
              <th scope="col">
                <span class="visually-hidden">{t.add.choose}</span>
              </th>
              <th scope="col">{t.add.device}</th>
            </tr>
          </thead>
          <tbody>
            {found.map(({ address, driver, identity, known, note }) => (
              <tr key={address}>
                <td>
                  {driver === null || known ? null : (
                    <input
                      type="checkbox"
                      checked={isChosen(address)}
                      aria-label={t.add.chooseOne({ address })}
                      onChange={({ currentTarget }) => choose(address, currentTarget.checked)}
                    />
                  )}
                </td>
                <th scope="row">
                  <bdi class="mono">{address}</bdi>
                  <small>
                    <bdi>{[identity.make, identity.model, identity.firmware].filter(Boolean).join(" ")}</bdi>
                  </small>
                  <small dir="auto">{known ? t.add.known : driver === null ? (note ?? t.add.unreadable) : note}</small>
                </th>
              </tr>
            ))}
          </tbody>
        </table>
      </Scroll>
      {drivers.length === 0 ? null : (
        <details class="logins">
          <summary>{t.add.logins}</summary>
          <p class="hint">{t.add.loginsHint}</p>
          {drivers.map((driver) => (
            <fieldset key={driver}>
              <legend>{driver}</legend>
              <LoginFields login={logins.get(driver) ?? noLogin} onChange={(login) => setLogin(driver, login)} />
            </fieldset>
          ))}
        </details>
      )}
    </>
  );
}
