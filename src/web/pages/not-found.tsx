import { t } from "../language.ts";
import { Notice } from "../parts/notice.tsx";
import { usePageTitle } from "../parts/page.tsx";
import { link } from "../route.ts";

/** For unknown addresses, and for pages that this user may not see. */
export function NotFound() {
  usePageTitle(t.notFound.title);
  return (
    <Notice icon="search" title={t.notFound.title} text={t.notFound.text} heading="h1">
      <a class="button primary" href={link("")}>
        {t.notFound.home}
      </a>
    </Notice>
  );
}
