import type { Messages } from "../en/index.ts";

export const compare: Messages["compare"] = {
  title: "Jämför riggar",
  lead: "Samma sak för två till sex riggar i ett diagram.",
  open: "Jämför",
  tooFew: "Det behövs minst två riggar",
  howTo: "Markera två till sex riggar i listan och välj Jämför.",
  choose: "Välj riggar",
  what: "Vad som jämförs",
};
