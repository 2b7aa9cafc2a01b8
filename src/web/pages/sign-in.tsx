import { useEffect, useState } from "preact/hooks";
import { Problem } from "../api.ts";
import { t } from "../language.ts";
import { Icon } from "../parts/icon.tsx";
import { usePageTitle } from "../parts/page.tsx";
import { fieldText, useForm } from "../parts/use-form.ts";
import { signIn } from "../session.ts";
import { codeInAddress, keyInAddress, removeCode } from "../wall-key.ts";

/** ms before a wall that could not sign in retries. */
const againMs = 10_000;

/** Whether the key would cross the network unencrypted. */
const isOpenConnection = (): boolean =>
  location.protocol === "http:" && !/^(localhost|127\.|\[::1\])/.test(location.hostname);

/** Signs in with the key or code of the address if there is one; otherwise asks for a key. */
export function SignIn() {
  const [code] = useState(codeInAddress);
  const key = code ?? keyInAddress();
  const [isWrong, setWrong] = useState(false);
  useEffect(() => {
    if (key === null || isWrong) return;
    let timer: ReturnType<typeof setTimeout>;
    const enter = () =>
      signIn(key).then(code === null ? undefined : removeCode, (error: unknown) => {
        if (error instanceof Problem && error.status === 401) setWrong(true);
        else timer = setTimeout(enter, againMs);
      });
    void enter();
    return () => clearTimeout(timer);
  }, [key, isWrong]);
  if (key !== null && !isWrong) return <p class="starting">{t.shell.loading}</p>;
  return <SignInForm refused={!isWrong ? null : code === null ? t.signIn.wrong : t.signIn.usedCode} />;
}

/** Asks for an API key and creates a session with it; the key itself is not stored. */
function SignInForm({ refused }: { refused: string | null }) {
  usePageTitle(t.signIn.title);
  const { wrongElsewhere, busy, submit } = useForm((data, form) =>
    signIn(fieldText(data, "key")).catch((error: unknown) => {
      form.querySelector("input")?.select();
      throw error instanceof Problem && error.status === 401 ? new Error(t.signIn.wrong) : error;
    }),
  );
  const problem = wrongElsewhere() ?? refused;
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
