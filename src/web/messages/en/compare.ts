/** Several rigs in one chart. */
export const compare = {
  title: "Compare rigs",
  lead: "The same of two to six rigs in one chart.",
  open: "Compare",
  tooFew: "Two rigs at least are needed",
  howTo: "Select two to six rigs in the list, and choose Compare.",
  choose: "Choose rigs",
  what: "What is compared",
};
