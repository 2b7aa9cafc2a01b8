import type { SectionState } from "../../../contract/settings.ts";
import { call } from "../../api.ts";
import { t } from "../../language.ts";
import { useFresh } from "../../parts/fresh.ts";
import { Icon } from "../../parts/icon.tsx";
import { Loading, useLoaded } from "../../parts/load.tsx";
import { link } from "../../route.ts";
import { Entry, FromFile, ListHead } from "./entry.tsx";

/** The settings of the service, by topic. */
export function Sections() {
  const list = useLoaded((signal) => call("listSettings", {}, { signal }), []);
  useFresh(list.reload);
  return (
    <>
      <ListHead text={t.settings.sectionsLead} />
      <Loading from={list}>
        {({ sections }) => (
          <ul class="entries">
            {sections.map((section) => (
              <SectionEntry key={section.key} section={section} />
            ))}
          </ul>
        )}
      </Loading>
    </>
  );
}

function SectionEntry({ section: { key, owner, line, restart, problem } }: { section: SectionState }) {
  const name = t.settings.sectionNames[key];
  return (
    <Entry
      name={name}
      tags={
        <>
          {owner === "store" ? <span class="tag">{t.settings.savedHere}</span> : null}
          <FromFile owner={owner} />
        </>
      }
      facts={[t.settings.sectionTexts[key], line === null ? null : t.settings.atLine({ line })]}
      actions={
        <a class="button small" href={link(`settings/service/${key}`)}>
          <Icon name={owner === "file" ? "search" : "edit"} /> {owner === "file" ? t.settings.look : t.settings.change}
          <span class="visually-hidden">: {name}</span>
        </a>
      }
    >
      {restart ? <p class="status warn">{t.settings.waitsForRestart}</p> : null}
      {problem === null ? null : (
        <p class="status bad">
          <span dir="auto">{problem}</span>
        </p>
      )}
    </Entry>
  );
}
