import { useEffect, useState } from "preact/hooks";
import { t } from "../language.ts";
import { problemText } from "../parts/messages.tsx";
import { Notice } from "../parts/notice.tsx";
import { usePageTitle } from "../parts/page.tsx";
import { endSession } from "../session.ts";

/** ms between two attempts. */
const retryMs = 3_000;

/** Replaces all pages until the service has ended the session. */
export function SignOut() {
  const [problem, setProblem] = useState<string | null>(null);
  const [turn, setTurn] = useState(0);
  usePageTitle(t.shell.signOut);
  useEffect(() => {
    const ending = new AbortController();
    let timer: ReturnType<typeof setTimeout> | undefined;
    endSession(ending.signal).catch((error: unknown) => {
      if (ending.signal.aborted) return;
      setProblem(problemText(error));
      timer = setTimeout(() => setTurn(turn + 1), retryMs);
    });
    return () => {
      ending.abort();
      clearTimeout(timer);
    };
  }, [turn]);
  if (problem === null) return <p class="starting">{t.signIn.leaving}</p>;
  return (
    <main class="alone">
      <Notice icon="unplugged" title={t.signIn.stillIn} text={t.signIn.stillInText} heading="h1">
        <p class="hint">{problem}</p>
        <button type="button" class="button primary" onClick={() => setTurn(turn + 1)}>
          {t.shell.again}
        </button>
      </Notice>
    </main>
  );
}
