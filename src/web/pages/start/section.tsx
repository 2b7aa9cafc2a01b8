import type { ComponentChildren } from "preact";
import type { SectionState, SettingsSection } from "../../../contract/settings.ts";
import { call } from "../../api.ts";
import { t } from "../../language.ts";
import { Loading, useLoaded } from "../../parts/load.tsx";
import { link } from "../../route.ts";
import { SectionNow } from "../settings/section-now.tsx";

type Sections = Readonly<Record<SettingsSection, SectionState>>;

interface UnsetProps {
  readonly section: SettingsSection;
  /** What is asked for where nobody has set the section yet. */
  readonly children: (sections: Sections, reload: () => void) => ComponentChildren;
}

/** A section that is asked for once: where it is set already, what it does now, and where to change it. */
export function Unset({ section, children }: UnsetProps) {
  const loaded = useLoaded(async (signal) => {
    const { sections } = await call("listSettings", {}, { signal });
    return Object.fromEntries(sections.map((each) => [each.key, each])) as Sections;
  }, []);
  return (
    <Loading from={loaded}>
      {(sections) =>
        sections[section].owner === "default" ? (
          children(sections, loaded.reload)
        ) : (
          <>
            <SectionNow section={section} />
            <p>
              <a class="button" href={link(`settings/service/${section}`)}>
                {t.start.changeThere}
              </a>
            </p>
          </>
        )
      }
    </Loading>
  );
}
