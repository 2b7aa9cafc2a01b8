import { useState } from "preact/hooks";
import { useLocation } from "preact-iso";
import { call } from "../../api.ts";
import { t } from "../../language.ts";
import { Field } from "../../parts/field.tsx";
import { FormProblem } from "../../parts/form-problem.tsx";
import { say } from "../../parts/messages.tsx";
import { Card } from "../../parts/page.tsx";
import { SavedLogin } from "../../parts/saved-login.tsx";
import { fieldText, useForm } from "../../parts/use-form.ts";
import { link } from "../../route.ts";
import { GroupField, givenLogin, type Login, LoginFields, noLogin } from "./details.tsx";

/** One rig by its address; the service identifies it. */
export function ByAddress() {
  const { route } = useLocation();
  const [group, setGroup] = useState("");
  const [login, setLogin] = useState<Login>(noLogin);
  const form = useForm(async (filled) => {
    const name = fieldText(filled, "name");
    const saved = fieldText(filled, "login");
    const { id } = await call("addMiner", {
      address: fieldText(filled, "address"),
      ...(name === "" ? {} : { name }),
      ...(group === "" ? {} : { group }),
      ...(saved === "" ? {} : { login: saved }),
      ...givenLogin(login),
    });
    say(t.add.addedOne);
    route(link(`rigs/${id}`));
  });
  const { wrong, busy, submit } = form;
  return (
    <Card>
      <form class="add-form" onSubmit={submit}>
        <Field label={t.add.address} hint={t.add.addressHint} problem={wrong("address")}>
          {(control) => (
            <input
              {...control}
              name="address"
              required
              maxLength={300}
              dir="ltr"
              autocapitalize="off"
              autocomplete="off"
              spellcheck={false}
            />
          )}
        </Field>
        <Field label={t.add.name} hint={t.add.nameHint} problem={wrong("name")}>
          {(control) => <input {...control} name="name" maxLength={200} dir="auto" autocomplete="off" />}
        </Field>
        <GroupField group={group} onChange={setGroup} />
        <details>
          <summary>{t.add.login}</summary>
          <p class="hint">{t.add.loginHint}</p>
          <SavedLogin login={null} problem={wrong("login")} />
          <LoginFields login={login} onChange={setLogin} />
        </details>
        <FormProblem of={form} />
        <button class="button primary" type="submit" disabled={busy}>
          {t.add.addIt}
        </button>
      </form>
    </Card>
  );
}
