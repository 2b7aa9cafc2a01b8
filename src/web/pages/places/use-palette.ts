import type { RefObject } from "preact";
import { useLayoutEffect, useState } from "preact/hooks";
import { theme } from "../../theme.ts";
import { type Palette, paletteOf } from "./draw.ts";

/** The colours of the page's scheme, also after it has changed; null until the first rendering. */
export function usePalette(probe: RefObject<HTMLElement | null>): Palette | null {
  const [palette, setPalette] = useState<Palette | null>(null);
  const chosen = theme.value;
  useLayoutEffect(() => {
    const read = () => {
      if (probe.current !== null) setPalette(paletteOf(probe.current));
    };
    read();
    const media = matchMedia("(prefers-color-scheme: dark)");
    media.addEventListener("change", read);
    return () => media.removeEventListener("change", read);
  }, [chosen]);
  return palette;
}
