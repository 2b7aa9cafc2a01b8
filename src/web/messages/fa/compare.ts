import type { Messages } from "../en/index.ts";

export const compare: Messages["compare"] = {
  title: "مقایسهٔ ریگ‌ها",
  lead: "یک چیز از دو تا شش ریگ در یک نمودار.",
  open: "مقایسه",
  tooFew: "دست‌کم دو ریگ لازم است",
  howTo: "در فهرست دو تا شش ریگ برگزینید و مقایسه را بزنید.",
  choose: "برگزیدن ریگ‌ها",
  what: "آنچه مقایسه می‌شود",
};
