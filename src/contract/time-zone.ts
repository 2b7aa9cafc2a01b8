import { z } from "zod";

const isTimeZone = (timeZone: string): boolean => {
  try {
    return new Intl.DateTimeFormat("en", { timeZone }) !== undefined;
  } catch {
    return false;
  }
};

/** A time zone of the IANA database. */
export const TimeZone = z
  .string()
  .max(60)
  .refine(isTimeZone, "is not a known time zone; use one such as Europe/Stockholm");
