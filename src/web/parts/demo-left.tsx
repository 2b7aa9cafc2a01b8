import { useEffect, useState } from "preact/hooks";
import { isHere } from "../../contract/site-numbers.ts";
import { call } from "../api.ts";
import { t } from "../language.ts";
import { may } from "../session.ts";
import { Dialog } from "./dialog.tsx";
import { useSending } from "./use-form.ts";

/** Something that the user made while there was only the demo. */
interface Made {
  readonly name: string;
  readonly remove: () => Promise<unknown>;
}

/** Rendered once the demo has left: asks whether what the user made to try it out stays. */
export default function DemoLeft() {
  const [made, setMade] = useState<readonly Made[]>([]);
  const { busy, problem, send } = useSending();
  useEffect(() => {
    // Without an answer everything stays.
    void madeInDemo().then(setMade, () => undefined);
  }, []);
  if (made.length === 0) return null;
  const close = () => setMade([]);
  const remove = async (): Promise<void> => {
    for (const each of made) {
      await each.remove();
      setMade((left) => left.filter((other) => other !== each));
    }
  };
  return (
    <Dialog
      title={t.start.demoLeft}
      onClose={close}
      actions={
        <>
          <button type="button" class="button danger" disabled={busy} onClick={() => send(remove)}>
            {t.start.throwAway}
          </button>
          <button type="button" class="button primary" disabled={busy} onClick={close}>
            {t.start.keep}
          </button>
        </>
      }
    >
      <p>{t.start.demoLeftText}</p>
      <ul>
        {made.map(({ name }) => (
          <li key={name}>
            <bdi>{name}</bdi>
          </li>
        ))}
      </ul>
      <p class="field-problem" role="alert">
        {problem}
      </p>
    </Dialog>
  );
}

/** The demo's own things are gone, and before the first rig there were no others. */
async function madeInDemo(): Promise<readonly Made[]> {
  const [rules, schedules, templates, sections] = await Promise.all([
    may("deleteRule") ? call("listRules", {}).then((list) => list.rules.filter(({ id }) => isHere(id))) : [],
    may("deleteSchedule") ? call("listSchedules", {}).then((list) => list.filter(({ id }) => isHere(id))) : [],
    may("deleteManagedTemplate")
      ? call("listManagedTemplates", {}).then((list) => list.managedTemplateList.filter(({ id }) => isHere(id)))
      : [],
    may("resetSettings") ? call("listSettings", {}).then((list) => list.sections) : [],
  ]);
  const rooms = sections.filter(({ key, owner }) => owner === "store" && (key === "heating" || key === "follow"));
  return [
    ...rules
      .filter(({ owner }) => owner === "store")
      .map(({ id, name }) => ({ name, remove: () => call("deleteRule", { id: String(id) }) })),
    ...schedules
      .filter(({ owner }) => owner === "store")
      .map(({ id, name }) => ({ name, remove: () => call("deleteSchedule", { id: String(id) }) })),
    ...templates.map(({ id, name }) => ({ name, remove: () => call("deleteManagedTemplate", { id }) })),
    ...rooms.map(({ key }) => ({
      name: t.settings.sectionNames[key],
      remove: () => call("resetSettings", { section: key }),
    })),
  ];
}
