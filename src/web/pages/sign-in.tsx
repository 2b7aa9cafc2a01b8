import { useState } from "preact/hooks";
import { Problem } from "../api.ts";
import { t } from "../language.ts";
import { Icon } from "../parts/icon.tsx";
import { usePageTitle } from "../parts/page.tsx";
import { signIn } from "../session.ts";

/** Whether the key would cross a network in readable form. */
const isOpenConnection = (): boolean =>
  location.protocol === "http:" && !/^(localhost|127\.|\[::1\])/.test(location.hostname);

/** Asks for an API key and makes a session of it; the key itself is not kept. */
export function SignIn() {
  const [problem, setProblem] = useState<string | null>(null);
  const [busy, setBusy] = useState(false);
  usePageTitle(t.signIn.title);
  const submit = async (event: SubmitEvent) => {
    event.preventDefault();
    const form = event.currentTarget;
    if (!(form instanceof HTMLFormElement)) return;
    const key = String(new FormData(form).get("key") ?? "").trim();
    setBusy(true);
    setProblem(null);
    try {
      await signIn(key);
    } catch (error) {
      const wrong = error instanceof Problem && error.status === 401;
      setProblem(wrong ? t.signIn.wrong : error instanceof Error ? error.message : String(error));
      form.querySelector("input")?.select();
    }
    setBusy(false);
  };
  return (
    <main class="alone">
      <form class="card sign-in" onSubmit={submit}>
        <h1>
          <Icon name="logo" /> Rigbridge
        </h1>
        <p>{t.signIn.text}</p>
        <label class="field">
          <span>{t.signIn.key}</span>
          <input
            name="key"
            type="password"
            autocomplete="current-password"
            required
            maxLength={400}
            spellcheck={false}
            aria-invalid={problem !== null}
            aria-describedby="sign-in-problem"
          />
        </label>
        <p id="sign-in-problem" class="field-problem" role="alert">
          {problem}
        </p>
        <button class="button primary" type="submit" disabled={busy}>
          {t.signIn.enter}
        </button>
        {isOpenConnection() ? <p class="hint">{t.signIn.open}</p> : null}
      </form>
    </main>
  );
}
