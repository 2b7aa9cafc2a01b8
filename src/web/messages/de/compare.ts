import type { Messages } from "../en/index.ts";

export const compare: Messages["compare"] = {
  title: "Rigs vergleichen",
  lead: "Dasselbe von zwei bis sechs Rigs in einem Diagramm.",
  open: "Vergleichen",
  tooFew: "Es braucht mindestens zwei Rigs",
  howTo: "Wähle in der Liste zwei bis sechs Rigs aus, dann Vergleichen.",
  choose: "Rigs auswählen",
  what: "Was verglichen wird",
};
