import { useMemo, useState } from "preact/hooks";
import { mostCommands, useCommands } from "../../commands.ts";
import { byName, number } from "../../format.ts";
import { t } from "../../language.ts";
import { rigs } from "../../live.ts";
import { CommandList } from "../../parts/command-list.tsx";
import { Icon } from "../../parts/icon.tsx";
import { Loading } from "../../parts/load.tsx";
import { Card } from "../../parts/page.tsx";
import { usePageQuery } from "../../query.ts";
import { ages, filterFrom, isAge, rigNamed } from "./filters.ts";

/** All commands, filtered by what stands in the address. */
export function Audit() {
  const query = usePageQuery();
  const [miner, actor, since] = [query.get("miner"), query.get("actor"), query.get("since")];
  const filter = useMemo(() => filterFrom(query.get, Date.now()), [miner, actor, since]);
  const loaded = useCommands(filter);
  return (
    <Card>
      <Filters actors={[...new Set(loaded.value?.map((command) => command.actor))].sort(byName)} />
      <Loading from={loaded}>
        {(commands) => (
          <>
            <CommandList
              commands={commands}
              hrefOf={(change) => query.hrefWith({ ...change, tab: "" })}
              key={`${miner} ${actor} ${since}`}
            />
            {commands.length >= mostCommands ? <p class="hint">{t.activity.cut(number(mostCommands))}</p> : null}
          </>
        )}
      </Loading>
    </Card>
  );
}

/** Names that a list of suggestions holds at most. */
const mostNames = 200;

function Filters({ actors }: { actors: readonly string[] }) {
  const query = usePageQuery();
  const [problem, setProblem] = useState(false);
  const miner = query.get("miner");
  const chosen = rigs.value.byId.get(Number(miner));
  const names = useMemo(
    () => Array.from(rigs.value.byId.values(), ({ name }) => name).slice(0, mostNames),
    [rigs.value.byId.size],
  );
  const choose = (text: string) => {
    const found = text === "" ? null : rigNamed(text, rigs.value.byId.values());
    setProblem(text !== "" && found === null);
    if (text === "" || found !== null) query.set({ miner: found === null ? "" : String(found.id) });
  };
  const isFiltered = [miner, query.get("actor"), query.get("since")].some((each) => each !== "");
  return (
    <form class="activity-filters" onSubmit={(event) => event.preventDefault()} aria-label={t.activity.filters}>
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
      <datalist id="activity-rigs">
        {names.map((name) => (
          <option key={name} value={name} />
        ))}
      </datalist>
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
      <datalist id="activity-actors">
        {actors.map((actor) => (
          <option key={actor} value={actor} />
        ))}
      </datalist>
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
      {isFiltered ? (
        <a class="button" href={query.hrefWith({ miner: "", actor: "", since: "" })}>
          <Icon name="close" /> {t.activity.clear}
        </a>
      ) : null}
    </form>
  );
}
