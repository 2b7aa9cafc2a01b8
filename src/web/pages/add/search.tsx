import { signal } from "@preact/signals";
import { useEffect, useMemo, useState } from "preact/hooks";
import type { Discovery } from "../../../contract/resources.ts";
import { call, Problem } from "../../api.ts";
import { counted, number } from "../../format.ts";
import { t } from "../../language.ts";
import { EmptyState } from "../../parts/empty-state.tsx";
import { Field } from "../../parts/field.tsx";
import { Knowing } from "../../parts/load.tsx";
import { problemText, sayProblem } from "../../parts/messages.tsx";
import { Card } from "../../parts/page.tsx";
import { useSending } from "../../parts/use-form.ts";
import { adding, addRigs } from "./add-rigs.ts";
import { GroupField, givenLogin, type Login, noLogin } from "./details.tsx";
import { FoundRigs } from "./found-rigs.tsx";

const askMs = 700;
/** The id of the last search. It continues while other pages are shown, and there is only one at a time. */
const searchId = signal<number | null>(null);

/** Searches networks, shows the results as they arrive, and adds the chosen ones. */
export function Search() {
  const [networks, setNetworks] = useState("");
  const [found, setFound] = useState<Discovery | null>(null);
  const { problem, busy, send, setProblem } = useSending();
  const [chosen, setChosen] = useState<ReadonlySet<string> | null>(null);
  const [group, setGroup] = useState("");
  const [logins, setLogins] = useState<ReadonlyMap<string, Login>>(new Map());
  const id = searchId.value;
  useEffect(() => {
    if (id === null) return undefined;
    const ending = new AbortController();
    void follow(id, ending.signal, setFound).catch((error: unknown) => {
      if (ending.signal.aborted) return;
      // The service drops a search after an hour, or when it restarts.
      if (error instanceof Problem && error.status === 404) searchId.value = null;
      else setProblem(problemText(error));
    });
    return () => ending.abort();
  }, [id]);
  const addable = useMemo(() => (found?.found ?? []).filter(({ driver, known }) => driver !== null && !known), [found]);
  // Everything that can be added is chosen by default.
  const isChosen = (address: string) => chosen?.has(address) ?? true;
  const toAdd = addable.filter(({ address }) => isChosen(address));
  const start = (event: SubmitEvent) => {
    event.preventDefault();
    setFound(null);
    setChosen(null);
    void send(async () => {
      const named = networks.split(/[\s,;]+/).filter((each) => each !== "");
      const started = await call("startDiscovery", { yes: false, ...(named.length === 0 ? {} : { networks: named }) });
      searchId.value = started.id;
    });
  };
  const add = () => {
    const rigs = toAdd.map(({ address, driver }) => ({
      address,
      ...(group === "" ? {} : { group }),
      ...givenLogin(logins.get(driver ?? "") ?? noLogin),
    }));
    searchId.value = null;
    setFound(null);
    void addRigs(rigs);
  };
  const running = found?.state === "running";
  return (
    <Card>
      <form class="add-form" onSubmit={start}>
        <Field label={t.add.networks} hint={t.add.networksHint} problem={problem ?? undefined}>
          {(control) => (
            <input
              {...control}
              value={networks}
              dir="ltr"
              placeholder="192.168.1.0/24"
              maxLength={2000}
              spellcheck={false}
              onInput={({ currentTarget }) => setNetworks(currentTarget.value)}
            />
          )}
        </Field>
        <div class="row">
          <button class="button primary" type="submit" disabled={running || busy}>
            {t.add.search}
          </button>
          {running && id !== null ? (
            <button type="button" class="button" onClick={() => void call("cancelDiscovery", { id }).catch(sayProblem)}>
              {t.add.stopSearch}
            </button>
          ) : null}
        </div>
      </form>
      {found === null ? null : (
        <>
          <progress max={found.total} value={found.scanned} aria-label={t.add.search} />
          <p class="hint" role="status">
            {t.add.searched({
              scanned: number(found.scanned),
              total: number(found.total),
              devices: counted(found.found.length, t.add.devices),
            })}
          </p>
          {found.found.length > 0 ? (
            <>
              <FoundRigs
                found={found.found}
                isChosen={isChosen}
                choose={(address, wanted) => {
                  const next = new Set(toAdd.map((each) => each.address));
                  if (wanted) next.add(address);
                  else next.delete(address);
                  setChosen(next);
                }}
                logins={logins}
                setLogin={(driver, login) => setLogins(new Map(logins).set(driver, login))}
              />
              <div class="add-form">
                <GroupField group={group} onChange={setGroup} />
              </div>
              <button
                type="button"
                class="button primary"
                disabled={toAdd.length === 0 || adding.value?.running === true}
                onClick={add}
              >
                {toAdd.length === 0 ? t.add.title : counted(toAdd.length, t.add.addThem)}
              </button>
            </>
          ) : running ? null : (
            <Knowing value={found}>
              {(_, known) => <EmptyState known={known} icon="search" title={t.add.nothing} text={t.add.nothingHint} />}
            </Knowing>
          )}
        </>
      )}
    </Card>
  );
}

/** Polls the state of the search until it ends. */
async function follow(id: number, signal: AbortSignal, show: (found: Discovery) => void): Promise<void> {
  for (;;) {
    const found = await call("getDiscovery", { id }, { signal });
    show(found);
    if (found.state !== "running") return;
    await new Promise((resolve) => setTimeout(resolve, askMs));
  }
}
