import {
  elementScroll,
  observeElementOffset,
  observeElementRect,
  observeWindowOffset,
  observeWindowRect,
  Virtualizer,
  windowScroll,
} from "@tanstack/virtual-core";
import type { RefObject } from "preact";
import { useEffect, useLayoutEffect, useReducer, useState } from "preact/hooks";

interface VirtualOptions {
  readonly count: number;
  /** Estimated px of one item; the measured size may differ. */
  readonly size: number;
  /** The scrolling element; absent: the page. */
  readonly scroller?: RefObject<HTMLElement | null>;
  /** px from the top of the page, or of the scrolling element, to the first item. */
  readonly margin?: number;
  readonly overscan?: number;
}

export interface Virtual {
  /** The rendered items, by index in the list. */
  readonly items: readonly { readonly index: number }[];
  /** px before the first and after the last rendered item. */
  readonly before: number;
  readonly after: number;
  /** Scrolls to an item. */
  show(index: number): void;
  /** Measures an element with its index in data-index. */
  readonly measure: (element: HTMLElement | null) => void;
}

/** Items in print, where nothing scrolls. */
const mostPrinted = 1_000;

function usePrinting(): boolean {
  const [printing, setPrinting] = useState(false);
  useEffect(() => {
    const begin = () => setPrinting(true);
    const end = () => setPrinting(false);
    addEventListener("beforeprint", begin);
    addEventListener("afterprint", end);
    return () => {
      removeEventListener("beforeprint", begin);
      removeEventListener("afterprint", end);
    };
  }, []);
  return printing;
}

/** The part of a long list to render. */
export function useVirtual({ count, size, scroller, margin = 0, overscan = 8 }: VirtualOptions): Virtual {
  const [, render] = useReducer((turn: number) => turn + 1, 0);
  const common = { count, estimateSize: () => size, overscan, scrollMargin: margin, onChange: () => render(undefined) };
  const ofElement = {
    ...common,
    getScrollElement: () => scroller?.current ?? null,
    observeElementRect,
    observeElementOffset,
    scrollToFn: elementScroll,
  };
  const ofWindow = {
    ...common,
    getScrollElement: () => window,
    initialOffset: () => window.scrollY,
    observeElementRect: observeWindowRect,
    observeElementOffset: observeWindowOffset,
    scrollToFn: windowScroll,
  };
  const [{ element, page }] = useState(() => ({
    element: scroller === undefined ? null : new Virtualizer<HTMLElement, HTMLElement>(ofElement),
    page: scroller === undefined ? new Virtualizer<Window, HTMLElement>(ofWindow) : null,
  }));
  element?.setOptions(ofElement);
  page?.setOptions(ofWindow);
  const virtualizer = element ?? page;
  useLayoutEffect(() => virtualizer?._didMount(), []);
  useLayoutEffect(() => virtualizer?._willUpdate());
  const printing = usePrinting();
  const show = (index: number) => virtualizer?.scrollToIndex(index, { align: "auto" });
  const measure = (node: HTMLElement | null) => {
    if (node !== null) virtualizer?.measureElement(node);
  };
  if (printing) {
    const items = Array.from({ length: Math.min(count, mostPrinted) }, (_, index) => ({ index }));
    return { items, before: 0, after: 0, show, measure };
  }
  const items = virtualizer?.getVirtualItems() ?? [];
  const total = virtualizer?.getTotalSize() ?? 0;
  return {
    items,
    before: Math.max(0, (items[0]?.start ?? margin) - margin),
    after: Math.max(0, total - ((items.at(-1)?.end ?? margin) - margin)),
    show,
    measure,
  };
}
