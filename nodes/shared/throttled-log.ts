/** Says the same text once in so many ms; what was held back is counted with the next one. */
export function seldom(say: (text: string) => void, every: number, now: () => number): (text: string) => void {
  const said = new Map<string, { at: number; heldBack: number }>();
  return (text) => {
    const before = said.get(text);
    if (before !== undefined && now() - before.at < every) {
      before.heldBack += 1;
      return;
    }
    for (const [old, { at }] of said) if (now() - at >= every) said.delete(old);
    said.set(text, { at: now(), heldBack: 0 });
    say(before === undefined || before.heldBack === 0 ? text : `${text} (+${before.heldBack})`);
  };
}
