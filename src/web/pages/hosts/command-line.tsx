import { call } from "../../api.ts";
import { t } from "../../language.ts";
import { useLoaded } from "../../parts/load.tsx";
import { Card } from "../../parts/page.tsx";

/** The command line on the host; the service redacts the secrets. `written`: reload key. */
export function CommandLine({ id, written }: { id: number; written: string }) {
  const { value, problem } = useLoaded((signal) => call("getManagedMinerCommand", { id }, { signal }), [id, written]);
  return (
    <Card title={t.hosts.commandLine}>
      {problem !== null ? (
        <p class="hint" dir="auto">
          {problem}
        </p>
      ) : value === undefined ? (
        <p class="hint">{t.shell.loading}</p>
      ) : (
        <>
          <pre class="command" dir="ltr">
            {value.command.map((word) => (/\s/.test(word) ? `"${word}"` : word)).join(" ")}
          </pre>
          <p class="hint">{t.hosts.redacted}</p>
        </>
      )}
    </Card>
  );
}
