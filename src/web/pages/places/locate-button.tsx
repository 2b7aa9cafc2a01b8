import { useEffect, useState } from "preact/hooks";
import type { Place } from "../../../contract/place-operations.ts";
import { call } from "../../api.ts";
import { number } from "../../format.ts";
import { t } from "../../language.ts";
import { Icon } from "../../parts/icon.tsx";
import { say } from "../../parts/messages.tsx";
import { useButton } from "../../parts/use-form.ts";
import { may } from "../../session.ts";

/** Long enough to walk there. */
const seconds = 300;

/** Has the rigs of a place signal where they are; pressed again, they stop. */
export function LocateButton({ place: { id } }: { place: Place }) {
  const { busy, send } = useButton();
  const [isOn, setOn] = useState(false);
  // The service ends the signal then.
  useEffect(() => {
    if (!isOn) return undefined;
    const timer = setTimeout(() => setOn(false), 1000 * seconds);
    return () => clearTimeout(timer);
  }, [isOn]);
  if (!may("locatePlace")) return null;
  const press = () =>
    send(async () => {
      await call("locatePlace", { id, on: !isOn, seconds });
      setOn(!isOn);
      say(isOn ? t.places.locateOff : t.places.locating({ minutes: number(seconds / 60) }));
    });
  return (
    <button type="button" class="button" aria-pressed={isOn} disabled={busy} onClick={press}>
      <Icon name="locate" /> {t.places.locate}
    </button>
  );
}
