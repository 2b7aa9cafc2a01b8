import { useEffect, useRef } from "preact/hooks";

/** Whether an element's text is truncated. */
const isCut = (element: HTMLElement): boolean =>
  element.scrollWidth > element.clientWidth + 1 || element.scrollHeight > element.clientHeight + 1;

const cuts = (element: HTMLElement): boolean => {
  const { textOverflow, webkitLineClamp } = getComputedStyle(element);
  return (textOverflow === "ellipsis" || webkitLineClamp !== "none") && isCut(element);
};

/** The truncated texts inside an element, without duplicates. */
const cutIn = (element: HTMLElement): string[] => {
  const found = [element, ...element.querySelectorAll<HTMLElement>("*")].filter(cuts);
  return [...new Set(found.map(({ textContent }) => textContent.trim()))].filter((text) => text !== "");
};

/** How many levels above the pointer's target are searched for truncated text. */
const mostAround = 3;

/**
 * Shows truncated text in full: as a tooltip at the pointer, and below the element focused by keyboard, until Escape or
 * the next focus. Screen readers read it anyway.
 */
export function CutText() {
  const bubble = useRef<HTMLDivElement>(null);
  useEffect(() => {
    const hide = () => bubble.current?.hidePopover();
    const point = ({ target }: Event) => {
      let element = target instanceof HTMLElement ? target : null;
      for (let around = 0; element !== null && around < mostAround; around += 1, element = element.parentElement)
        if (element.title === "" && cuts(element)) element.title = element.textContent.trim();
    };
    const focus = ({ target }: Event) => {
      hide();
      if (!(target instanceof HTMLElement) || !target.matches("main :focus-visible:is(a, button, tr)")) return;
      const texts = cutIn(target);
      if (texts.length === 0 || bubble.current === null) return;
      bubble.current.textContent = texts.join(" · ");
      const { left, bottom } = target.getBoundingClientRect();
      Object.assign(bubble.current.style, { left: `${Math.max(8, left)}px`, top: `${bottom + 4}px` });
      bubble.current.showPopover();
    };
    const close = ({ key }: KeyboardEvent) => {
      if (key === "Escape") hide();
    };
    const events = [
      ["pointerover", point],
      ["focusin", focus],
      ["focusout", hide],
      ["scroll", hide],
    ] as const;
    for (const [type, listener] of events) document.addEventListener(type, listener, { capture: true, passive: true });
    addEventListener("keydown", close);
    return () => {
      for (const [type, listener] of events) document.removeEventListener(type, listener, { capture: true });
      removeEventListener("keydown", close);
    };
  }, []);
  return <div ref={bubble} popover="manual" class="cut-text" aria-hidden="true" dir="auto" />;
}
