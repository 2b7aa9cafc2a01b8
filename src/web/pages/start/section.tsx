import type { ComponentChildren } from "preact";
import type { SectionState, SettingsSection } from "../../../contract/settings.ts";
import { call } from "../../api.ts";
import { t } from "../../language.ts";
import { Loading, useLoaded } from "../../parts/load.tsx";
import type { FormState } from "../../parts/use-form.ts";
import { link } from "../../route.ts";
import { SectionNow, useLinesNow } from "../settings/section-now.tsx";
import type { useSectionTest } from "../settings/section-test.tsx";

interface UnsetProps {
  readonly section: SettingsSection;
  /** The form for an unset section. */
  readonly children: (sections: readonly SectionState[], reload: () => void) => ComponentChildren;
}

/** A section to set once: if it is set already, shows its present state and a link. */
export function Unset({ section, children }: UnsetProps) {
  const loaded = useLoaded(async (signal) => (await call("listSettings", {}, { signal })).sections, []);
  return (
    <Loading from={loaded}>
      {(sections) =>
        stateOf(sections, section).owner === "default" ? (
          children(sections, loaded.reload)
        ) : (
          <SetAlready section={section} />
        )
      }
    </Loading>
  );
}

function SetAlready({ section }: { section: SettingsSection }) {
  const lines = useLinesNow(section);
  return (
    <>
      <SectionNow lines={lines ?? []} />
      <p>
        <a class="button" href={link(`settings/service/${section}`)}>
          {t.start.changeThere}
        </a>
      </p>
    </>
  );
}

/** The service lists every section. */
export function stateOf(sections: readonly SectionState[], section: SettingsSection): SectionState {
  const found = sections.find(({ key }) => key === section);
  if (found === undefined) throw new TypeError(`the service lists no section ${section}`);
  return found;
}

interface SaveOrTestProps {
  readonly form: Pick<FormState, "busy" | "wrongElsewhere">;
  readonly test: ReturnType<typeof useSectionTest>;
  /** The tested value. */
  readonly value: unknown;
}

/** The end of a step's form. */
export const SaveOrTest = ({ form, test, value }: SaveOrTestProps) => (
  <>
    <p class="field-problem" role="alert">
      {form.wrongElsewhere()}
    </p>
    <p class="row">
      <button class="button primary" type="submit" disabled={form.busy}>
        {t.shell.save}
      </button>
      {test?.button(value)}
    </p>
    {test?.result}
  </>
);
