import { t } from "../language.ts";
import { EmptyState } from "../parts/empty-state.tsx";
import { usePageTitle } from "../parts/page.tsx";
import { link } from "../route.ts";

/** For addresses that no page has, and for pages that this user may not see. */
export function NotFound() {
  usePageTitle(t.notFound.title);
  return (
    <EmptyState icon="search" title={t.notFound.title} text={t.notFound.text} heading="h1">
      <a class="button primary" href={link("")}>
        {t.notFound.home}
      </a>
    </EmptyState>
  );
}
