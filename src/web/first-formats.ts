/** A worker that creates one format of each kind, in the locale given by its name, and ends. */
const locale = self.name;
new Intl.NumberFormat(locale).format(0);
new Intl.DateTimeFormat(locale, { dateStyle: "medium", timeStyle: "short" }).format(0);
new Intl.RelativeTimeFormat(locale).format(0, "second");
new Intl.PluralRules(locale).select(0);
self.close();
