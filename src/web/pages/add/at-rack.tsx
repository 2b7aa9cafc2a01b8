import { useState } from "preact/hooks";
import type { Sighting } from "../../../contract/sightings.ts";
import { call } from "../../api.ts";
import { t } from "../../language.ts";
import { EmptyState } from "../../parts/empty-state.tsx";
import { Field } from "../../parts/field.tsx";
import { Loading, useLoaded } from "../../parts/load.tsx";
import { say } from "../../parts/messages.tsx";
import { Card } from "../../parts/page.tsx";
import { Scroll } from "../../parts/scroll.tsx";
import { useSending } from "../../parts/use-form.ts";
import { usePoll } from "../../parts/use-poll.ts";
import { CodeReader, canReadCodes } from "./code-reader.tsx";
import { isMeant, nextPosition } from "./sighted.ts";

const askMs = 3_000;
const nowhere = { placeId: "", row: "", column: "" };

/** Rigs that have reported themselves or appeared in the network, to be put into the place where the user stands. */
export function AtRack() {
  const sightings = useLoaded((signal) => call("listSightings", {}, { signal }), []);
  const places = useLoaded((signal) => call("listPlaces", {}, { signal }), []);
  const [where, setWhere] = useState(nowhere);
  const [wanted, setWanted] = useState("");
  const [reads, setReads] = useState(false);
  const { busy, problem, send } = useSending();
  usePoll(sightings, askMs);
  const place = places.value?.find(({ id }) => String(id) === where.placeId);
  const put = ({ id }: Sighting) =>
    send(async () => {
      const position = { row: Number(where.row), column: Number(where.column) };
      const { name } = await call("placeSighting", {
        id,
        ...(place === undefined ? {} : { placeId: place.id }),
        ...(where.row === "" && where.column === "" ? {} : { position }),
      });
      say(t.add.rack.done({ name }));
      setWanted("");
      if (where.row !== "") {
        const next = nextPosition(position, place?.columns);
        setWhere({ ...where, row: String(next.row), column: String(next.column) });
      }
      sightings.reload();
    });
  const number = (part: "row" | "column", label: string) => (
    <Field label={label}>
      {(control) => (
        <input
          {...control}
          type="number"
          min={1}
          max={1000}
          value={where[part]}
          onInput={({ currentTarget }) => setWhere({ ...where, [part]: currentTarget.value })}
        />
      )}
    </Field>
  );
  return (
    <Card>
      <div class="add-form">
        <Field label={t.add.rack.place} problem={problem ?? undefined}>
          {(control) => (
            <select
              {...control}
              value={where.placeId}
              onChange={({ currentTarget }) => setWhere({ ...nowhere, placeId: currentTarget.value })}
            >
              <option value="">{t.add.rack.asItIs}</option>
              {places.value?.map(({ id, path }) => (
                <option key={id} value={id}>
                  {path}
                </option>
              ))}
            </select>
          )}
        </Field>
        <div class="login-fields">
          {number("row", t.add.rack.row)}
          {number("column", t.add.column)}
        </div>
        <Field
          label={t.add.rack.find}
          hint={t.add.rack.findHint}
          action={
            canReadCodes() ? (
              <button type="button" class="button" aria-pressed={reads} onClick={() => setReads(!reads)}>
                {reads ? t.add.rack.close : t.add.rack.read}
              </button>
            ) : null
          }
        >
          {(control) => (
            <input
              {...control}
              value={wanted}
              dir="ltr"
              maxLength={200}
              autocapitalize="off"
              autocomplete="off"
              spellcheck={false}
              onInput={({ currentTarget }) => setWanted(currentTarget.value)}
            />
          )}
        </Field>
        {reads ? (
          <CodeReader
            read={(text) => {
              setWanted(text);
              setReads(false);
            }}
          />
        ) : null}
      </div>
      <Loading from={sightings}>
        {(all, known) => {
          const list = all.filter((each) => isMeant(each, wanted));
          return list.length === 0 ? (
            <EmptyState known={known} icon="search" title={t.add.rack.nothing} text={t.add.rack.nothingHint} />
          ) : (
            <Sighted list={list} busy={busy} put={(sighting) => void put(sighting)} />
          );
        }}
      </Loading>
    </Card>
  );
}

interface SightedProps {
  readonly list: readonly Sighting[];
  readonly busy: boolean;
  readonly put: (sighting: Sighting) => void;
}

const Sighted = ({ list, busy, put }: SightedProps) => (
  <Scroll name={t.add.foundRigs}>
    <table class="found-rigs">
      <caption class="visually-hidden">{t.add.foundRigs}</caption>
      <thead>
        <tr>
          <th scope="col">{t.add.device}</th>
          <th scope="col">
            <span class="visually-hidden">{t.add.rack.put}</span>
          </th>
        </tr>
      </thead>
      <tbody>
        {list.map((sighting) => {
          const { id, address, identity, name, note, movedFrom } = sighting;
          return (
            <tr key={id}>
              <th scope="row">
                <bdi class="mono">{address}</bdi> <bdi>{name ?? t.add.states.added}</bdi>
                <small>
                  <bdi>{[identity.make, identity.model, identity.mac, identity.serial].filter(Boolean).join(" ")}</bdi>
                </small>
                <small dir="auto">{movedFrom === null ? note : t.add.rack.moved({ address: movedFrom })}</small>
              </th>
              <td>
                <button type="button" class="button" disabled={busy} onClick={() => put(sighting)}>
                  {t.add.rack.put}
                </button>
              </td>
            </tr>
          );
        })}
      </tbody>
    </table>
  </Scroll>
);
