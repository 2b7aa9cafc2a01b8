import { useLayoutEffect, useState } from "preact/hooks";
import { useLocation } from "preact-iso";
import { t } from "../language.ts";
import { interceptBack } from "../route.ts";
import { Dialog } from "./dialog.tsx";

/**
 * Whether a form differs from the saved value, both as JSON. A value that the form saved itself (`keep`) counts as
 * saved before it is read again.
 */
export function useDirty(held: string, saved: string) {
  const [kept, setKept] = useState<{ readonly instead: string; readonly value: string } | null>(null);
  return {
    dirty: held !== (kept?.instead === saved ? kept.value : saved),
    keep: (value: string) => setKept({ instead: saved, value }),
  };
}

/**
 * Asks before a page with unsaved changes is left: by a link, by the browser's back button, or by closing it. Render
 * the returned element.
 */
export function useUnsaved(dirty: boolean) {
  const { route } = useLocation();
  const [target, setTarget] = useState<string | null>(null);
  // A layout effect: an ordinary one starts some frames later, and until then the back button would not ask.
  useLayoutEffect(() => {
    if (!dirty) return undefined;
    const here = location.pathname + location.search;
    const onUnload = (event: BeforeUnloadEvent) => event.preventDefault();
    const onClick = (event: MouseEvent) => {
      const anchor = event.target instanceof Element ? event.target.closest("a[href]") : null;
      if (!(anchor instanceof HTMLAnchorElement) || anchor.target === "_blank" || anchor.origin !== location.origin)
        return;
      if (event.button !== 0 || event.ctrlKey || event.metaKey || event.shiftKey || anchor.download !== "") return;
      event.preventDefault();
      event.stopImmediatePropagation();
      setTarget(anchor.pathname + anchor.search);
    };
    const onBack = (event: PopStateEvent) => {
      const wanted = location.pathname + location.search;
      // Hidden from the router, which would render the other page at once, without this form.
      event.stopImmediatePropagation();
      history.pushState(null, "", here);
      setTarget(wanted);
    };
    addEventListener("beforeunload", onUnload);
    addEventListener("click", onClick, true);
    const endInterception = interceptBack(onBack);
    return () => {
      removeEventListener("beforeunload", onUnload);
      removeEventListener("click", onClick, true);
      endInterception();
    };
  }, [dirty]);
  if (target === null) return null;
  return (
    <Dialog
      title={t.form.unsaved}
      onClose={() => setTarget(null)}
      actions={
        <>
          <button type="button" class="button primary" onClick={() => setTarget(null)}>
            {t.form.stay}
          </button>
          <button
            type="button"
            class="button danger"
            onClick={() => {
              setTarget(null);
              route(target);
            }}
          >
            {t.form.leave}
          </button>
        </>
      }
    >
      <p>{t.form.unsavedText}</p>
    </Dialog>
  );
}
