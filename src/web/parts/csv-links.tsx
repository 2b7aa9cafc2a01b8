import { addressOf } from "../api.ts";
import { t } from "../language.ts";
import { Icon } from "./icon.tsx";

type Tables = "getMoney" | "getHistory" | "getSummaryHistory";

interface CsvLinksProps<Name extends Tables> {
  readonly of: Name;
  readonly query: Parameters<typeof addressOf<Name>>[1];
}

/** A reply as a table: for people, for Excel (which needs a byte order mark), or in the API's form for programs. */
export function CsvLinks<Name extends Tables>({ of, query }: CsvLinksProps<Name>) {
  const id = `csv-${of}`;
  const kinds = [
    [t.csv.units, { units: "true" }],
    [t.csv.excel, { units: "true", bom: "true" }],
    [t.csv.plain, {}],
  ] as const;
  return (
    <>
      <button type="button" class="button small" popovertarget={id}>
        <Icon name="download" /> CSV
      </button>
      <div id={id} popover="auto" class="popover menu-popover">
        {kinds.map(([name, options]) => (
          <a key={name} class="button quiet" href={addressOf(of, { ...query, ...options, format: "csv" })} download>
            {name}
          </a>
        ))}
      </div>
    </>
  );
}
