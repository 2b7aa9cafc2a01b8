import type { ComponentChildren } from "preact";

/** Content that may be wider or longer than its place: scrolls, also by keyboard. */
export const Scroll = ({ name, children }: { name: string; children: ComponentChildren }) => (
  // biome-ignore lint/a11y/noNoninteractiveTabindex: without it, people without a mouse could not scroll it
  <section class="scroll" tabIndex={0} aria-label={name}>
    {children}
  </section>
);
