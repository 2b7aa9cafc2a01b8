import { useMemo, useState } from "preact/hooks";
import type { OwnedRun } from "../../../contract/rules.ts";
import { byName } from "../../format.ts";
import { t } from "../../language.ts";
import { rigs } from "../../live.ts";
import { Icon } from "../../parts/icon.tsx";
import { usePageQuery } from "../../query.ts";
import { kinds, results } from "./entries.ts";
import { ages, filterNames, isAge, rigNamed } from "./filters.ts";

/** Maximum names in a list of suggestions. */
const mostNames = 200;

interface FeedFiltersProps {
  readonly actors: readonly string[];
  /** The rules and schedules to choose from: those with runs. */
  readonly runs: readonly OwnedRun[];
}

export function FeedFilters({ actors, runs }: FeedFiltersProps) {
  const query = usePageQuery();
  const [problem, setProblem] = useState(false);
  const miner = query.get("miner");
  const chosen = rigs.value.byId.get(Number(miner));
  const names = useMemo(
    () => Array.from(rigs.value.byId.values(), ({ name }) => name).slice(0, mostNames),
    [rigs.value.byId.size],
  );
  const senders = useMemo(() => [...new Set(actors)].sort(byName).slice(0, mostNames), [actors]);
  const owners = useMemo(
    () =>
      [...new Map(runs.map(({ kind, ownerId, name }) => [`${kind} ${ownerId}`, name]))].sort(([, a], [, b]) =>
        byName(a, b),
      ),
    [runs],
  );
  const choose = (text: string) => {
    const found = text === "" ? null : rigNamed(text, rigs.value.byId.values());
    setProblem(text !== "" && found === null);
    if (text === "" || found !== null) query.set({ miner: found === null ? "" : String(found.id) });
  };
  const owner = query.get("owner");
  return (
    <form class="activity-filters" onSubmit={(event) => event.preventDefault()} aria-label={t.activity.filters}>
      <Choice name="what" label={t.activity.source} choices={kinds.map((kind) => [kind, t.activity.kinds[kind]])} />
      <label class="field">
        <span>{t.activity.rig}</span>
        <input
          key={miner}
          type="search"
          list="activity-rigs"
          dir="auto"
          maxLength={200}
          placeholder={t.activity.all}
          defaultValue={chosen?.name ?? miner}
          aria-invalid={problem}
          aria-describedby="activity-rig-problem"
          onChange={({ currentTarget }) => choose(currentTarget.value)}
        />
        <span id="activity-rig-problem" class="field-problem" role="alert">
          {problem ? t.activity.noRig : ""}
        </span>
      </label>
      <Suggestions id="activity-rigs" names={names} />
      <label class="field">
        <span>{t.activity.who}</span>
        <input
          key={query.get("actor")}
          type="search"
          list="activity-actors"
          dir="auto"
          maxLength={200}
          placeholder={t.activity.all}
          defaultValue={query.get("actor")}
          onChange={({ currentTarget }) => query.set({ actor: currentTarget.value.trim() })}
        />
      </label>
      <Suggestions id="activity-actors" names={senders} />
      {owners.length === 0 && owner === "" ? null : (
        <Choice
          name="owner"
          label={t.activity.rule}
          choices={owners.some(([each]) => each === owner) || owner === "" ? owners : [...owners, [owner, owner]]}
        />
      )}
      <Choice
        name="result"
        label={t.activity.result}
        choices={results.map((result) => [result, t.activity.resultKinds[result]])}
      />
      <label class="field">
        <span>{t.activity.since}</span>
        <select
          value={isAge(query.get("since")) ? query.get("since") : ""}
          onChange={({ currentTarget }) => query.set({ since: currentTarget.value })}
        >
          <option value="">{t.activity.anyTime}</option>
          {(Object.keys(ages) as (keyof typeof ages)[]).map((age) => (
            <option key={age} value={age}>
              {t.activity.ages[age]}
            </option>
          ))}
        </select>
      </label>
      {filterNames.some((name) => query.get(name) !== "") ? (
        <a class="button" href={query.hrefWith(Object.fromEntries(filterNames.map((name) => [name, ""])))}>
          <Icon name="close" /> {t.activity.clear}
        </a>
      ) : null}
    </form>
  );
}

const Suggestions = ({ id, names }: { id: string; names: readonly string[] }) => (
  <datalist id={id}>
    {names.map((name) => (
      <option key={name} value={name} />
    ))}
  </datalist>
);

interface ChoiceProps {
  /** Name of the field in the address. */
  readonly name: (typeof filterNames)[number];
  readonly label: string;
  readonly choices: readonly (readonly [value: string, text: string])[];
}

function Choice({ name, label, choices }: ChoiceProps) {
  const query = usePageQuery();
  const value = query.get(name);
  return (
    <label class="field">
      <span>{label}</span>
      <select
        value={choices.some(([each]) => each === value) ? value : ""}
        onChange={({ currentTarget }) => query.set({ [name]: currentTarget.value })}
      >
        <option value="">{t.activity.all}</option>
        {choices.map(([each, text]) => (
          <option key={each} value={each}>
            {text}
          </option>
        ))}
      </select>
    </label>
  );
}
