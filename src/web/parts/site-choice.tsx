import { useState } from "preact/hooks";
import { everySite } from "../../contract/runs-at.ts";
import { t } from "../language.ts";
import { sites } from "../live.ts";
import "./site-choice.css";

interface SiteChoiceProps {
  readonly chosen: readonly string[];
  readonly disabled?: boolean;
  readonly onChoose: (names: string[]) => void;
}

/** The name of the fields in a form's data. */
export const siteField = "runsAt";

/** The choice of the other sites that get something, where there are any. */
export function SiteChoice({ chosen, disabled = false, onChoose }: SiteChoiceProps) {
  // A site that was removed stays in the list when it is no longer chosen.
  const [before] = useState(chosen);
  const names = [...new Set([...sites.value.map(({ name }) => name), ...before, ...chosen])];
  if (names.length === 0) return null;
  const choose = (name: string, isChosen: boolean) =>
    onChoose([...chosen.filter((each) => each !== name), ...(isChosen ? [name] : [])]);
  return (
    <fieldset class="site-choice" disabled={disabled}>
      <legend>{t.pools.sites}</legend>
      {[everySite, ...names.filter((name) => name !== everySite)].map((name) => (
        <label key={name} class="switch">
          <input
            type="checkbox"
            name={siteField}
            value={name}
            checked={chosen.includes(name)}
            onChange={({ currentTarget }) => choose(name, currentTarget.checked)}
          />{" "}
          {name === everySite ? t.rules.everySite : <bdi>{name}</bdi>}
        </label>
      ))}
    </fieldset>
  );
}
