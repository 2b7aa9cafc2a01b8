import { useState } from "preact/hooks";
import { isHere } from "../../../contract/site-numbers.ts";
import { call } from "../../api.ts";
import { t } from "../../language.ts";
import { FormDialog } from "../../parts/form-dialog.tsx";
import { say } from "../../parts/messages.tsx";
import { may } from "../../session.ts";

interface Owned {
  readonly owner: "file" | "store" | "centre";
  readonly centre?: string | undefined;
}

/** Says who alone can change it: the configuration file, or a centre. */
export function Owner({ owner, centre = "" }: Owned) {
  if (owner === "centre") return <span>{t.rules.ofCentre({ name: centre })}</span>;
  return owner === "file" ? <span>{t.rules.fromFile}</span> : null;
}

/** Why a form only shows what it is about; null if it can be changed. */
export function readOnlyText({ owner, centre = "" }: Owned, mayChange: boolean): string | null {
  if (owner === "file") return t.rules.fromFileText;
  if (owner === "centre") return t.rules.ofCentreText({ name: centre });
  return mayChange ? null : t.rules.mayNotChange;
}

/** The centres that define something in a list, with the way to take it from them. */
export function Centres({
  of,
  onReleased,
}: {
  of: readonly (Owned & { readonly id: number })[];
  onReleased: () => void;
}) {
  const [asks, setAsks] = useState<string | null>(null);
  const own = of.filter(({ id, owner }) => owner === "centre" && isHere(id));
  const names = [...new Set(own.flatMap(({ centre }) => centre ?? []))];
  return (
    <>
      {names.map((name) => (
        <p key={name} class="banner">
          <span>{t.rules.centreOwns({ name })}</span>{" "}
          {may("releaseOwned") ? (
            <button type="button" class="button small" onClick={() => setAsks(name)}>
              {t.rules.release}
            </button>
          ) : null}
        </p>
      ))}
      {asks === null ? null : (
        <Release
          centre={asks}
          onClose={() => setAsks(null)}
          onReleased={() => {
            setAsks(null);
            onReleased();
          }}
        />
      )}
    </>
  );
}

function Release({ centre, onClose, onReleased }: { centre: string; onClose: () => void; onReleased: () => void }) {
  const [keep, setKeep] = useState(true);
  const release = async () => {
    await call("releaseOwned", { centre, keep });
    say(t.rules.released);
    onReleased();
  };
  return (
    <FormDialog
      title={t.rules.releaseTitle({ name: centre })}
      verb={t.rules.release}
      onSubmit={release}
      onClose={onClose}
    >
      {() => (
        <>
          <p class="hint">{t.rules.releaseText}</p>
          {[true, false].map((each) => (
            <label key={String(each)} class="switch">
              <input type="radio" name="keep" checked={keep === each} onChange={() => setKeep(each)} />
              {each ? t.rules.releaseKeep : t.rules.releaseRemove}
            </label>
          ))}
        </>
      )}
    </FormDialog>
  );
}
