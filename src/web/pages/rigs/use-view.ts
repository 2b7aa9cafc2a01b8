import { useEffect, useLayoutEffect, useRef, useState } from "preact/hooks";
import { useLocation } from "preact-iso";
import { link } from "../../route.ts";
import { searchOf, type View, viewIn } from "./view.ts";

/** ms after the last letter until the address is updated: browsers limit how often it may change. */
const settleMs = 300;

/** The view in the address, and a function that changes both. */
export function useView(): [view: View, change: (view: View) => void] {
  const { url, route } = useLocation();
  const search = url.includes("?") ? url.slice(url.indexOf("?")) : "";
  const [view, setView] = useState(() => viewIn(search));
  const written = useRef(search);
  const timer = useRef<ReturnType<typeof setTimeout> | undefined>(undefined);
  // A layout effect: an ordinary one starts some frames later, and would revert changes made until then.
  useLayoutEffect(() => {
    if (search === written.current) return;
    clearTimeout(timer.current);
    written.current = search;
    setView(viewIn(search));
  }, [search]);
  useEffect(() => () => clearTimeout(timer.current), []);
  const change = (next: View) => {
    const isTyped = next.text !== view.text;
    setView(next);
    clearTimeout(timer.current);
    const write = () => {
      written.current = searchOf(next);
      route(link("rigs") + written.current, true);
    };
    if (isTyped) timer.current = setTimeout(write, settleMs);
    else write();
  };
  return [view, change];
}
