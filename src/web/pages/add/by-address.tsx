import { useState } from "preact/hooks";
import { useLocation } from "preact-iso";
import { call, type Mistake, Problem } from "../../api.ts";
import { t } from "../../language.ts";
import { Field, mistakeOf } from "../../parts/field.tsx";
import { problemText, say } from "../../parts/messages.tsx";
import { Card } from "../../parts/page.tsx";
import { link } from "../../route.ts";
import { GroupField, givenLogin, type Login, LoginFields, noLogin } from "./details.tsx";

/** One rig by its address; the service finds out what it is. */
export function ByAddress() {
  const { route } = useLocation();
  const [address, setAddress] = useState("");
  const [name, setName] = useState("");
  const [group, setGroup] = useState("");
  const [login, setLogin] = useState<Login>(noLogin);
  const [mistakes, setMistakes] = useState<readonly Mistake[]>([]);
  const [problem, setProblem] = useState<string | null>(null);
  const [busy, setBusy] = useState(false);
  const submit = async (event: SubmitEvent) => {
    event.preventDefault();
    setBusy(true);
    setMistakes([]);
    setProblem(null);
    try {
      const { id } = await call("addMiner", {
        address: address.trim(),
        ...(name.trim() === "" ? {} : { name: name.trim() }),
        ...(group === "" ? {} : { group }),
        ...givenLogin(login),
      });
      say(t.add.addedOne);
      route(link(`rigs/${id}`));
    } catch (error) {
      setMistakes(error instanceof Problem ? error.mistakes : []);
      setProblem(problemText(error));
      setBusy(false);
    }
  };
  return (
    <Card>
      <form class="add-form" onSubmit={submit}>
        <Field label={t.add.address} hint={t.add.addressHint} problem={mistakeOf(mistakes, "address")}>
          {(control) => (
            <input
              {...control}
              value={address}
              required
              maxLength={300}
              dir="ltr"
              autocapitalize="off"
              spellcheck={false}
              onInput={({ currentTarget }) => setAddress(currentTarget.value)}
            />
          )}
        </Field>
        <Field label={t.add.name} hint={t.add.nameHint} problem={mistakeOf(mistakes, "name")}>
          {(control) => (
            <input
              {...control}
              value={name}
              maxLength={200}
              onInput={({ currentTarget }) => setName(currentTarget.value)}
            />
          )}
        </Field>
        <GroupField group={group} onChange={setGroup} />
        <details>
          <summary>{t.add.login}</summary>
          <p class="hint">{t.add.loginHint}</p>
          <LoginFields login={login} onChange={setLogin} />
        </details>
        <p class="field-problem" role="alert">
          {problem}
        </p>
        <button class="button primary" type="submit" disabled={busy || address.trim() === ""}>
          {t.add.addIt}
        </button>
      </form>
    </Card>
  );
}
