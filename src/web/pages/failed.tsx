import { t } from "../language.ts";
import { Notice } from "../parts/notice.tsx";
import { usePageTitle } from "../parts/page.tsx";

/** Replaces a page that could not be loaded or has thrown an error; the menu and the other pages keep working. */
export function Failed({ error }: { error: unknown }) {
  usePageTitle(t.failed.title);
  return (
    <Notice icon="warning" title={t.failed.title} text={t.failed.text} heading="h1">
      <p class="hint" dir="ltr">
        {error instanceof Error ? error.message : String(error)}
      </p>
      <ReloadButton primary />
    </Notice>
  );
}

export const ReloadButton = ({ primary = false }: { primary?: boolean }) => (
  <button type="button" class={`button ${primary ? "primary" : "small"}`} onClick={() => location.reload()}>
    {t.failed.reload}
  </button>
);
